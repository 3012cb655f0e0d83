/** Messages that reach a model agent while it is at work. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { lead, ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { deferred } from '../../../src/base/wake.ts'
import { guards, refuse } from '../../../src/features/guards/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  memoryState,
  type RunEvent,
  type Servable,
  Team,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { type ScriptedCall, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventually } from '../../eventually.ts'

type Handler = ReturnType<typeof createHandler>
type Body = Readonly<Record<string, unknown>>

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steering-'))
  folders.push(folder)
  return folder
}

/** A model agent whose tool waits for the test, and what its model was asked. */
function world({ name = 'helper', more = {}, says = 'done' as string | undefined } = {}) {
  const asked: ScriptedCall[] = []
  const gate = deferred<void>()
  const begun = deferred<void>()
  const slow = {
    name: 'slow',
    description: 'Waits',
    parameters: { type: 'object', properties: {} },
    async execute() {
      begun.resolve()
      await gate.promise
      return 'slept'
    },
  }
  const model = scriptedModel(call => {
    asked.push(call)
    if (call.call === 0) return { toolCalls: [{ name: 'slow', input: {} }] }
    return `${says} ${call.text}`
  })
  const agent = new ModelAgent({ name, model, tools: [slow], register: false, ...more })
  return { agent, asked, gate, begun }
}

const TEXT_ROLES = (call: ScriptedCall | undefined) =>
  (call?.messages ?? []).flatMap(({ role, content }) => {
    if (role === 'tool') return ['tool']
    const texts = (content as { type: string; text?: string }[]).flatMap(
      part => part.text ?? `[${part.type}]`,
    )
    return [`${role}: ${texts.join('')}`]
  })

const serve = (servable: Servable, options: HandlerOptions = {}): Handler =>
  createHandler({
    serve: [servable],
    registry: false,
    state: memoryState(),
    logger: false,
    plugins: [sessions()],
    middleware: [
      async (request, context, next) => {
        const id = request.headers.get('x-user')
        if (id) context.identity = { id }
        return next()
      },
    ],
    ...options,
  })

async function post(handler: Handler, path: string, body: Body, headers: Record<string, string> = {}) {
  const response = await handler(
    new Request(`http://localhost/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  )
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
}

const ADA = { 'x-user': 'ada' }

async function get(handler: Handler, path: string, headers: Record<string, string> = ADA) {
  const response = await handler(new Request(`http://localhost/api${path}`, { headers }))
  return response.json()
}

const run = (handler: Handler, input: unknown, more: Body = {}, headers: Record<string, string> = ADA) =>
  post(handler, '/agents/helper/run', { input, sessionId: 's', ...more }, headers)

async function begin(handler: Handler, input = 'first', path = '/agents/helper/run', headers = ADA) {
  const answer = await post(handler, path, { input, sessionId: 's' }, { prefer: 'respond-async', ...headers })
  expect(answer.status, answer.text).toBe(202)
  return answer.json().id as string
}

const STEER = { concurrency: 'steer' }

async function ended(handler: Handler, id: string, headers = ADA) {
  return eventually(async () => {
    const record = await get(handler, `/runs/${id}`, headers)
    expect(record.status).not.toBe('running')
    return record
  })
}

async function eventsOf(handler: Handler, id: string): Promise<RunEvent[]> {
  const page = await get(handler, `/runs/${id}/events`)
  return page.events.map((entry: { event?: RunEvent }) => entry.event ?? entry)
}

const steersIn = (events: readonly RunEvent[]) =>
  events.flatMap(event => (event.type === 'steered' ? [event.messageId] : []))

const states: readonly [string, () => HandlerOptions['state']][] = [
  ['memory', () => memoryState()],
  ['SQLite', () => sqliteState({ path: join(folderOf(), 'a.db') })],
]

describe.each(states)('a message for a run at work, over %s', (_, stateOf) => {
  it('comes after the result of the tool and before the next call of the model, in order', async () => {
    const { agent, asked, gate, begun } = world()
    const handler = serve(agent, { state: stateOf()! })
    const id = await begin(handler)
    await begun.promise
    const one = await run(handler, 'second', { ...STEER, messageId: 'm2' })
    expect(one.status, one.text).toBe(202)
    const { next, ...shown } = one.json()
    expect(shown).toEqual({ id, steered: true, messageId: 'm2', position: 1 })
    expect(one.headers.get('x-run-id')).toBe(id)
    const two = await run(handler, 'third', STEER)
    expect(two.json()).toMatchObject({ id, position: 2, messageId: two.json().next })
    gate.resolve()
    expect(await ended(handler, id)).toMatchObject({ status: 'completed', result: { text: 'done third' } })
    expect(TEXT_ROLES(asked[1])).toEqual([
      'user: first',
      'assistant: [tool-call]',
      'tool',
      'user: second',
      'user: third',
    ])
    expect(asked).toHaveLength(2)
    const events = await eventsOf(handler, id)
    expect(steersIn(events)).toEqual(['m2', two.json().next])
    const types = events.map(event => event.type)
    expect(types.indexOf('steered')).toBeGreaterThan(types.indexOf('tool_call_end'))
    expect(types.indexOf('steered')).toBeLessThan(types.indexOf('text'))
    // The other run is over, and says where its message went.
    expect((await ended(handler, next)).result).toMatchObject({ steeredInto: id, text: '' })
    const { turns } = await get(handler, '/agents/helper/sessions/s/messages')
    expect(turns).toHaveLength(1)
    expect(turns[0]).toMatchObject({
      runId: id,
      input: 'first',
      steered: [
        { messageId: 'm2', input: 'second' },
        { runId: two.json().next, input: 'third' },
      ],
    })
    // The next turn knows the whole order.
    const after = await run(handler, 'fourth')
    expect(after.status, after.text).toBe(200)
    expect(TEXT_ROLES(asked[2])).toEqual([...TEXT_ROLES(asked[1]), 'assistant: done third', 'user: fourth'])
  })

  it('is the next run if the run at work is cancelled, or if it takes none', async () => {
    for (const more of [{}, { maxSteps: 1 }]) {
      const { agent, asked, gate, begun } = world({ more })
      const handler = serve(agent, { state: stateOf()! })
      const id = await begin(handler)
      await begun.promise
      const { next } = (await run(handler, 'second', STEER)).json()
      if (!('maxSteps' in more)) await post(handler, `/runs/${id}/cancel`, {}, ADA)
      gate.resolve()
      await ended(handler, id)
      expect(steersIn(await eventsOf(handler, id))).toEqual([])
      expect(await ended(handler, next)).toMatchObject({
        status: 'completed',
        result: { text: 'done second' },
      })
      expect(asked.filter(({ text }) => text === 'second')).toHaveLength(1)
    }
  })

  it('is withdrawn with its own run', async () => {
    const { agent, asked, gate, begun } = world()
    const handler = serve(agent, { state: stateOf()! })
    const id = await begin(handler)
    await begun.promise
    const { next } = (await run(handler, 'second', STEER)).json()
    await post(handler, `/runs/${next}/cancel`, {}, ADA)
    gate.resolve()
    expect((await ended(handler, id)).result.text).toBe('done first')
    expect(asked).toHaveLength(2)
  })
})

describe('a message for a run at work', () => {
  it('asks the model again if it comes during the last answer', async () => {
    const asked: string[] = []
    const gate = deferred<void>()
    const begun = deferred<void>()
    const model = scriptedModel(async ({ text }) => {
      asked.push(text)
      begun.resolve()
      await gate.promise
      return `re ${text}.`
    })
    const handler = serve(new ModelAgent({ name: 'helper', model, register: false }))
    const id = await begin(handler)
    await begun.promise
    await run(handler, 'second', STEER)
    gate.resolve()
    expect((await ended(handler, id)).result.text).toBe('re first.re second.')
    expect(asked).toEqual(['first', 'second'])
  })

  it('is never lost and never comes twice, whenever it comes', async () => {
    const asked: string[] = []
    const model = scriptedModel(({ text }) => {
      asked.push(text)
      return 'ok'
    })
    const handler = serve(new ModelAgent({ name: 'helper', model, register: false }))
    for (let round = 0; round < 200; round++) {
      const id = await begin(handler, `a${round}`)
      for (let turns = 0; turns < round % 20; turns++) await undefined
      const answer = await run(handler, `b${round}`, STEER)
      await ended(handler, answer.status === 202 ? answer.json().next : id)
    }
    expect(asked.filter(text => text.startsWith('b')).sort()).toEqual(
      Array.from({ length: 200 }, (_, round) => `b${round}`).sort(),
    )
  }, 60_000)

  it('waits for a run of its own where it cannot reach one', async () => {
    const { agent, asked, gate, begun } = world()
    const handler = serve(agent)
    const id = await begin(handler)
    await begun.promise
    const others = [
      run(handler, 'own tools', { ...STEER, clientTools: [{ name: 'mine' }] }),
      run(handler, 'queued', { concurrency: 'queue' }),
      run(handler, 'x'.repeat(40_000), STEER),
    ]
    // Of somebody else it is another session.
    const other = await run(handler, 'other', STEER, { 'x-user': 'bob' })
    expect(other.json()).toMatchObject({ text: 'done other' })
    gate.resolve()
    expect(steersIn(await eventsOf(handler, id))).toEqual([])
    for (const answer of await Promise.all(others)) expect(answer.status, answer.text).toBe(200)
    expect(asked).toHaveLength(6)
  })

  it('waits where the agent takes none', async () => {
    const { agent, gate, begun } = world({ more: { steering: false } })
    const handler = serve(agent, { sessions: { concurrency: 'steer' } })
    await begin(handler)
    await begun.promise
    const answer = run(handler, 'second')
    gate.resolve()
    expect((await answer).json()).toMatchObject({ text: 'done second' })
  })

  it('reaches it by default with the option, and streams the run at work', async () => {
    const { agent, gate, begun } = world()
    const handler = serve(agent, { sessions: { concurrency: 'steer' } })
    const id = await begin(handler)
    await begun.promise
    const stream = post(handler, '/agents/helper/stream', { input: 'second', sessionId: 's' }, ADA)
    const accepted = await run(handler, 'third', {}, { ...ADA, prefer: 'respond-async' })
    expect(accepted.json()).toMatchObject({ id, steered: true, position: 2 })
    gate.resolve()
    const { headers, text } = await stream
    expect(headers.get('x-run-id')).toBe(id)
    expect(text.match(/"type":"steered"/g)).toHaveLength(2)
    expect(text.match(/"type":"finish"/g)).toHaveLength(1)
  })

  it('is one of eight at the most', async () => {
    const { agent, gate, begun } = world()
    const handler = serve(agent)
    const id = await begin(handler)
    await begun.promise
    for (let count = 1; count <= 8; count++) {
      const answer = await run(handler, `s${count}`, STEER)
      expect(answer.json()).toMatchObject({ position: count })
    }
    const ninth = await run(handler, 's9', STEER)
    expect([ninth.status, ninth.json().code]).toEqual([409, 'session_busy'])
    gate.resolve()
    await ended(handler, id)
    expect(steersIn(await eventsOf(handler, id))).toHaveLength(8)
  })

  it('comes once for an idempotency key', async () => {
    const { agent, asked, gate, begun } = world()
    const handler = serve(agent)
    const id = await begin(handler)
    await begun.promise
    const key = { ...ADA, 'idempotency-key': 'k' }
    const one = await run(handler, 'second', STEER, key)
    const two = await run(handler, 'second', STEER, key)
    expect([two.status, two.json()]).toEqual([202, one.json()])
    gate.resolve()
    await ended(handler, id)
    await ended(handler, one.json().next)
    expect((await run(handler, 'second', STEER, key)).json()).toMatchObject({ steeredInto: id })
    expect(asked).toHaveLength(2)
  })

  it('is refused by a guard before it counts', async () => {
    const { agent, asked, gate, begun } = world()
    const handler = serve(agent, {
      plugins: [
        sessions(),
        guards({ onInput: said => (JSON.stringify(said).includes('secret') ? refuse('no') : undefined) }),
      ],
    })
    const id = await begin(handler)
    await begun.promise
    expect((await run(handler, 'a secret', STEER)).status).toBeGreaterThanOrEqual(400)
    gate.resolve()
    await ended(handler, id)
    expect(asked).toHaveLength(2)
  })

  it('starts a run while another waits for an approval', async () => {
    const model = scriptedModel(({ text, call }) =>
      call === 0 ? { toolCalls: [{ name: 'pay', input: {} }] } : `re ${text}`,
    )
    const pay = { name: 'pay', parameters: { type: 'object' }, needsApproval: true, execute: () => 'paid' }
    const handler = serve(new ModelAgent({ name: 'helper', model, tools: [pay as never], register: false }))
    const id = await begin(handler)
    expect((await ended(handler, id)).requests).toHaveLength(1)
    expect((await run(handler, 'second', STEER)).json()).toMatchObject({ text: 're second' })
    expect((await get(handler, `/runs/${id}`)).requests).toHaveLength(1)
  })

  it('is replaced with the turn that it reached', async () => {
    const { agent, gate, begun } = world()
    const handler = serve(agent)
    const id = await begin(handler)
    await begun.promise
    await run(handler, 'second', { ...STEER, messageId: 'm2' })
    gate.resolve()
    await ended(handler, id)
    expect((await run(handler, 'again', { replaces: 'm2' })).status).toBe(200)
    const { turns } = await get(handler, '/agents/helper/sessions/s/messages')
    expect(turns.map(({ input }: { input: string }) => input)).toEqual(['again'])
  })

  it('reaches no run over the interface of OpenAI', async () => {
    const { agent, asked, gate, begun } = world()
    const handler = serve(agent, {
      sessions: { concurrency: 'steer' },
      plugins: [sessions(), openai()],
    })
    const id = await begin(handler)
    await begun.promise
    const body = { model: 'helper', input: 'second', conversation: 's' }
    const answer = handler(
      new Request('http://localhost/v1/responses', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...ADA },
        body: JSON.stringify(body),
      }),
    )
    gate.resolve()
    await (await answer).text()
    await ended(handler, id)
    expect(steersIn(await eventsOf(handler, id))).toEqual([])
    expect(asked.length).toBeGreaterThan(1)
  })
})

describe('a team', () => {
  it('has its lead take messages, and its members none', async () => {
    const gate = deferred<void>()
    const begun = deferred<void>()
    const slow = (name: string) =>
      new Agent({
        name,
        register: false,
        steering: true,
        async *run(_, context) {
          begun.resolve()
          await gate.promise
          yield `took ${(yield* context.steering.take()).length}`
        },
      })
    const model = scriptedModel(({ call, results, text }) =>
      call === 0
        ? { toolCalls: ['one', 'two'].map(name => ({ name: `ask_${name}`, input: { input: 'x' } })) }
        : `${results.length} ${text}`,
    )
    const team = new Team({
      name: 'helper',
      members: [slow('one'), slow('two')],
      strategy: lead({ model }),
      register: false,
    })
    const handler = serve(team)
    const id = await begin(handler, 'first', '/teams/helper/run')
    await begun.promise
    const answer = await post(
      handler,
      '/teams/helper/run',
      { input: 'second', sessionId: 's', ...STEER },
      ADA,
    )
    expect(answer.json()).toMatchObject({ id, steered: true })
    gate.resolve()
    const { result } = await ended(handler, id)
    expect(result.text).toContain('second')
    expect(JSON.stringify(result.toolCalls)).toContain('took 0')
  })
})

describe('two processes over one file', () => {
  it('send messages to the runs of each other', async () => {
    const path = join(folderOf(), 'shared.db')
    const { agent, gate, begun } = world()
    const one = serve(agent, { state: sqliteState({ path }) })
    const two = serve(world().agent, { state: sqliteState({ path }) })
    const id = await begin(one)
    await begun.promise
    const answer = await run(two, 'second', STEER)
    expect(answer.json()).toMatchObject({ id, steered: true })
    gate.resolve()
    expect((await ended(one, id)).result.text).toBe('done second')
    expect((await ended(two, answer.json().next)).result).toMatchObject({ steeredInto: id })
  })
})

describe('a function agent', () => {
  it('takes messages when it asks for them', async () => {
    const gate = deferred<void>()
    const begun = deferred<void>()
    const agent = new Agent({
      name: 'helper',
      register: false,
      steering: true,
      async *run(input, { steering }) {
        const none = yield* steering.take()
        begun.resolve()
        await gate.promise
        const news = yield* steering.take()
        yield `${input} ${none.length} ${news.map(message => message.input).join()}`
      },
    })
    const handler = serve(agent)
    const id = await begin(handler)
    await begun.promise
    await run(handler, 'second', STEER)
    gate.resolve()
    expect((await ended(handler, id)).result.text).toBe('first 0 second')
    expect(steersIn(await eventsOf(handler, id))).toHaveLength(1)
  })
})

describe('pages', () => {
  const plugins = () => [sessions(), aiSdkUi(), agUi()]

  it('of useChat get 202, and the stream of the run at work tells of the message', async () => {
    const { agent, gate, begun } = world()
    const handler = serve(agent, { plugins: plugins() })
    const chat = (text: string, more: Body = {}) => {
      const message = { id: text, role: 'user', parts: [{ type: 'text', text }] }
      return post(handler, '/agents/helper/chat', { id: 's', messages: [message], ...more }, ADA)
    }
    const first = chat('first')
    await begun.promise
    const answer = await chat('second', STEER)
    expect([answer.status, answer.json()]).toEqual([
      202,
      { id: expect.any(String), steered: true, messageId: 'second', position: 1, next: expect.any(String) },
    ])
    gate.resolve()
    const { text } = await first
    expect(text).toContain('"type":"data-steered"')
    expect(text).toContain('[DONE]')
  })

  it('of AG-UI end well, both of them', async () => {
    const { agent, gate, begun } = world()
    const handler = serve(agent, { plugins: plugins() })
    const page = (content: string, forwardedProps: Body = {}) =>
      post(
        handler,
        '/agents/helper/ag-ui',
        {
          ...{ threadId: 's', runId: content, state: {}, tools: [], context: [], forwardedProps },
          messages: [{ id: content, role: 'user', content }],
        },
        ADA,
      )
    const first = page('first')
    await begun.promise
    const second = page('second', STEER)
    await eventually(async () => {
      const { runs } = await get(handler, '/runs?sessionId=s')
      expect(runs).toHaveLength(2)
    })
    gate.resolve()
    for (const { text } of await Promise.all([first, second])) {
      expect(text).toContain('"type":"TEXT_MESSAGE_START","messageId":"second","role":"user"')
      expect(text.match(/"type":"RUN_FINISHED"/g)).toHaveLength(1)
    }
  })
})
