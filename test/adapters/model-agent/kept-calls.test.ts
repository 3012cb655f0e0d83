/** What is kept of the calls of models: in the log of a stored run, for those who may read inputs, and nowhere else. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { lead, ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { createClient } from '../../../src/client/index.ts'
import {
  Agent,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type RunsOptions,
  sequence,
  Team,
  Workflow,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { eventually } from '../../eventually.ts'
import { calls, type Provider, says, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.stop())

const KEY = 'sk-1234567890abcdef-of-ada'
const SYSTEM = 'Answer like a pirate'

const model = () => createOpenAICompatible({ name: 'acme', baseURL: provider.url })('large')
const helper = (name = 'helper') =>
  new ModelAgent({
    name,
    register: false,
    model,
    instructions: SYSTEM,
    tools: [
      {
        name: 'look',
        description: 'Looks',
        parameters: { type: 'object', properties: { at: { type: 'string' } } },
        execute: () => 'seen',
      },
    ],
  })

const tokens = {
  ada: 'ada',
  vic: { id: 'vic', roles: ['viewer'] },
  eve: { id: 'eve', roles: ['operator'] },
}

function service(runs: RunsOptions = { keepModelCalls: true, store: 'all' }, more: HandlerOptions = {}) {
  const handler = createHandler({
    agents: { helper: helper() },
    registry: false,
    production: false,
    logger: false,
    middleware: [bearerAuth({ tokens })],
    runs,
    ...more,
  })
  const as = (user: string) =>
    createClient({
      baseUrl: 'http://127.0.0.1/api',
      fetch: handler,
      headers: { authorization: `Bearer ${user}`, 'x-openai-api-key': KEY },
    })
  const get = (user: string, path: string) =>
    handler(
      new Request(`http://127.0.0.1/api/${path}`, { headers: { authorization: `Bearer ${user}` } }),
    ).then(async response => ({ status: response.status, text: await response.text() }))
  return { handler, as, get }
}

/** Runs a stored run to its end, and returns its id. */
async function ran(client: ReturnType<ReturnType<typeof service>['as']>, input = 'Hi', name = 'helper') {
  const { id } = await client.runs.start({ kind: 'agent', name }, input)
  await client.runs.result(id)
  return id
}

/** The kept calls of a run. */
async function keptOf(client: ReturnType<ReturnType<typeof service>['as']>, id: string) {
  const { events } = await client.runs.events(id, { include: 'model_calls' })
  return events.flatMap(({ event }) => (event.type === 'model_call' ? [event] : []))
}

describe('the log of a stored run', () => {
  it('has what the model was sent and what it replied, call by call', async () => {
    provider.script(calls(['look', { at: 'the sea' }]), says('Arr'))
    const client = service().as('ada')
    const kept = await keptOf(client, await ran(client))
    expect(kept).toMatchObject([
      {
        finishReason: 'tool_calls',
        usage: { totalTokens: 10 },
        prompt: { messages: expect.any(Array), tools: expect.anything() },
        reply: {
          text: '',
          toolCalls: [{ toolName: 'look', input: { at: 'the sea' } }],
          finishReason: 'tool-calls',
        },
      },
      { finishReason: 'stop', reply: { text: 'Arr', finishReason: 'stop' } },
    ])
    const [first, second] = kept.map(event => JSON.stringify('prompt' in event && event.prompt))
    for (const text of [SYSTEM, 'Hi', 'look', 'Looks']) expect(first).toContain(text)
    expect(second).toContain('seen')
    expect(JSON.stringify(kept)).not.toContain('isCut')
  })

  it('has them of members, with their names and the steps in which they are', async () => {
    const crew = new Team({
      name: 'crew',
      register: false,
      members: [helper('one'), helper('two')],
      strategy: sequence,
    })
    const desk = new Team({
      name: 'desk',
      register: false,
      members: [helper('mate')],
      strategy: lead({ model }),
    })
    const plan = new Workflow({
      name: 'plan',
      register: false,
      async *run(input, { step }) {
        yield* step('ask', ({ call }) => call(crew, input))
      },
    })
    const { as } = service(undefined, { teams: { crew, desk }, workflows: { plan } })
    const client = as('ada')
    const keptBy = async (kind: 'team' | 'workflow', name: string) => {
      const { id } = await client.runs.start({ kind, name }, 'Hi')
      await client.runs.result(id)
      const { events } = await client.runs.events(id, { include: 'model_calls' })
      const steps = events.flatMap(({ event }) => (event.type === 'step' && event.id ? [event.id] : []))
      const tools = events.flatMap(({ event }) =>
        event.type === 'tool_call_start' ? [event.toolCall.id] : [],
      )
      return { kept: await keptOf(client, id), parents: new Set([...steps, ...tools]) }
    }
    provider.script(says('Arr'))
    for (const [kind, name] of [
      ['team', 'crew'],
      ['workflow', 'plan'],
    ] as const) {
      const { kept, parents } = await keptBy(kind, name)
      expect(kept.map(({ agent }) => agent)).toEqual(['one', 'two'])
      for (const event of kept) expect(parents).toContain(event.parentId)
      expect(kept).toMatchObject([{ reply: { text: 'Arr' } }, { reply: { text: 'Arr' } }])
    }
    provider.script(calls(['ask_mate', { input: 'Look' }]), says('Seen'), says('Done'))
    const { kept, parents } = await keptBy('team', 'desk')
    expect(kept).toMatchObject([
      { reply: { toolCalls: [{ toolName: 'ask_mate' }] } },
      { agent: 'mate', reply: { text: 'Seen' } },
      { reply: { text: 'Done' } },
    ])
    expect(parents).toContain(kept[1]?.parentId)
    for (const own of [kept[0], kept[2]]) {
      expect(own?.agent).toBeUndefined()
      expect(own?.parentId).toBeUndefined()
    }
  })

  it('has none of the keys, and cuts what is long', async () => {
    provider.script(says(`your key is ${KEY}`))
    const { as } = service()
    const client = as('ada')
    const [short] = await keptOf(client, await ran(client, `${KEY} and Bearer abcdefgh1234567890`))
    expect(JSON.stringify(short)).toContain('[redacted]')
    expect(JSON.stringify(short)).not.toMatch(/sk-1234567890|abcdefgh1234567890/)
    for (const long of ['x'.repeat(200_000), '\u0001'.repeat(70_000), `${'word '.repeat(20_000)}${KEY}`]) {
      provider.script(says(long.slice(0, 150_000)))
      const [event] = await keptOf(client, await ran(client, long))
      const { prompt, reply } = event as { prompt?: object; reply?: object }
      for (const each of [prompt, reply]) {
        expect(each).toMatchObject({ isCut: true })
        expect(JSON.stringify(each).length).toBeLessThanOrEqual(65_536)
      }
      expect(JSON.stringify(event)).not.toContain(KEY)
    }
  })

  it('never fails a run because of them', async () => {
    provider.script(says('x'.repeat(20_000)))
    const client = service({ keepModelCalls: true, store: 'all', maxBytes: 60_000 }).as('ada')
    const id = await ran(client, 'y'.repeat(9000))
    expect((await client.runs.get(id)).status).toBe('completed')
  })

  it('has the replies of agents of the AI SDK, too', async () => {
    const { ToolLoopAgent } = await import('ai')
    provider.script(says('Arr'))
    const agents = { loop: toAgent(new ToolLoopAgent({ model: model() }), { name: 'loop' }) }
    const client = service(undefined, { agents }).as('ada')
    const [event] = await keptOf(client, await ran(client, 'Hi', 'loop'))
    expect(event).toMatchObject({ reply: { text: 'Arr' }, prompt: { messages: expect.any(Array) } })
    expect(JSON.stringify(event)).toContain('"Hi"')
  })
})

describe('what is kept of model calls', () => {
  it('is for the owner, and for those who may read inputs', async () => {
    provider.script(says('Arr'))
    const { as, get } = service()
    const id = await ran(as('ada'))
    const path = `runs/${id}/events?include=model_calls`
    expect((await get('ada', path)).text).toContain(SYSTEM)
    expect((await get('eve', `${path}&owner=ada`)).text).toContain(SYSTEM)
    for (const [user, query] of [
      ['vic', '&owner=ada'],
      ['vic', ''],
      ['eve', ''],
    ])
      expect((await get(user!, path + query)).status).toBe(404)
    const plain = await get('vic', `runs/${id}/events?owner=ada`)
    expect(plain.text).toContain('model_call')
    expect(plain.text).not.toMatch(/"prompt"|"reply"|pirate/)
    expect((await get('ada', `runs/${id}/events?include=all`)).status).toBe(400)
  })

  it('is in no stream, no record and no other protocol', async () => {
    provider.script(says('Arr'))
    const { handler, as, get } = service(undefined, {
      a2a: { default: 'helper' },
      plugins: [agUi(), aiSdkUi({ agent: 'helper' }), mcp({ tools: true }), openai()],
    })
    const id = await ran(as('ada'))
    const said = [
      (await get('ada', `runs/${id}/stream`)).text,
      (await get('ada', `runs/${id}`)).text,
      (await get('ada', `runs/${id}/events`)).text,
    ]
    const parts = [{ text: 'Hi' }]
    const messages = [{ role: 'user', content: 'Hi' }]
    for (const [path, body] of [
      ['/api/agents/helper/run', { input: 'Hi' }],
      ['/api/agents/helper/stream', { input: 'Hi' }],
      [
        '/api/agents/helper/ag-ui',
        { threadId: 't', runId: 'r', tools: [], context: [], messages: [{ id: 'm', ...messages[0] }] },
      ],
      [
        '/api/chat',
        { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] },
      ],
      ['/v1/chat/completions', { model: 'helper', messages, stream: true }],
      ['/v1/responses', { model: 'helper', input: 'Hi', stream: true }],
      ['/message:stream', { message: { messageId: 'm', role: 'ROLE_USER', parts } }],
      ['/message:send', { message: { messageId: 'n', role: 'ROLE_USER', parts } }],
      [
        '/mcp',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'helper', arguments: { input: 'Hi' }, _meta: { progressToken: 1 } },
        },
      ],
    ] as const) {
      const headers = {
        'content-type': 'application/json',
        authorization: 'Bearer ada',
        accept: 'application/json, text/event-stream',
        'a2a-version': '1.0',
      }
      const request = new Request(`http://127.0.0.1${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      const text = await (await handler(request)).text()
      expect(text, path).toContain('Arr')
      said.push(text)
    }
    for (const text of said) expect(text).not.toMatch(/pirate|"prompt"|"reply"/)
  })

  it('is nothing without the option, or of a run that is not stored', async () => {
    provider.script(says('Arr'))
    for (const runs of [{ store: 'all' }, { keepModelCalls: false, store: 'all' }] as const) {
      const client = service(runs).as('ada')
      const [event] = await keptOf(client, await ran(client))
      expect(event).not.toHaveProperty('prompt')
      expect(event).toMatchObject({ finishReason: 'stop' })
    }
    const events = []
    const stream = service({ keepModelCalls: true }).as('ada').agent('helper').stream('Hi', { follow: false })
    for await (const event of stream) events.push(event)
    expect(JSON.stringify(events)).not.toContain('pirate')
  })

  it('cannot be said by an agent', async () => {
    const liar = new Agent({
      name: 'liar',
      register: false,
      async *run() {
        yield { type: 'model_call', prompt: { messages: [] }, reply: { text: 'x' } } as never
        yield 'done'
      },
    })
    const { as } = service(undefined, { agents: { liar } })
    const client = as('ada')
    const [event] = await keptOf(client, await ran(client, 'Hi', 'liar'))
    expect(event).toEqual({ type: 'model_call', at: expect.any(Number) })
  })

  it('is refused in production', () => {
    const refused = expect.objectContaining({
      code: 'invalid_options',
      message: expect.stringContaining('`runs.keepModelCalls` is for development'),
    })
    expect(() => service(undefined, { production: true })).toThrow(refused)
    expect(() => service({ keepModelCalls: false }, { production: true })).not.toThrow()
  })

  it('is in a page while the run is at work', async () => {
    provider.script(calls(['look', { at: 'x' }]), () => {})
    const client = service().as('ada')
    const { id } = await client.runs.start({ kind: 'agent', name: 'helper' }, 'Hi')
    await eventually(async () => expect(await keptOf(client, id)).toHaveLength(1))
    await client.runs.cancel(id)
  })
})
