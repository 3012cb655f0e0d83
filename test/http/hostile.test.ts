/** What agents, middleware and options of other people's making may do, seen from outside a handler. */
import { describe, expect, it } from 'vitest'
import {
  Agent,
  type AgentConfig,
  createHandler,
  type Handler,
  type HandlerOptions,
  type RunEvent,
  ServableError,
  steps,
  Team,
  Workflow,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { foreign, speaker, untyped } from '../support.ts'

async function ask(handler: Handler, path: string, body: object = { input: 'hi' }): Promise<string> {
  const init = jsonRequest(body)
  return (await handler(new Request(`http://h/api/agents/${path}`, init))).text()
}

function serving(stream: () => AsyncIterable<unknown>, options: HandlerOptions = {}): Handler {
  const agents = { it: foreign('it', stream) }
  return createHandler({ registry: false, production: false, logger: false, agents, ...options })
}

const finish: RunEvent = { type: 'finish', finishReason: 'stop' }

describe('createHandler, with an agent that', () => {
  it('yields an event that becomes another as JSON, fails its run', async () => {
    const handler = serving(async function* () {
      yield { type: 'step', name: 's', status: 'started', toJSON: () => finish }
      yield finish
    })
    const text = await ask(handler, 'it/stream')
    expect(text).toContain('"code":"invalid_event"')
    expect(text).not.toContain('"type":"finish"')
  })

  it.each([0, false, 'text', { toJSON() {} }])(
    'ends with %j as structured output, fails its run',
    async structured => {
      const agent = new Agent({ name: 'it', register: false, run: () => untyped({ structured }) })
      const handler = createHandler({ registry: false, logger: false, agents: { it: agent } })
      expect(await ask(handler, 'it/run')).toContain('"code":"invalid_event"')
    },
  )

  it.each(['run', 'stream'])('gives a tool result that is no JSON, fails its run alike: %s', async route => {
    const handler = serving(async function* () {
      yield { type: 'tool_call_start', toolCall: { id: '1', name: 't' } }
      yield { type: 'tool_call_end', toolCallId: '1', result: 1n }
      yield finish
    })
    expect(await ask(handler, `it/${route}`)).toContain('"code":"invalid_event"')
  })

  it('gives more in tool results than an answer may hold, fails its run', async () => {
    const stream = async function* () {
      yield { type: 'tool_call_start', toolCall: { id: '1', name: 't' } }
      yield { type: 'tool_call_end', toolCallId: '1', result: ['x'.repeat(2000)] }
      yield finish
    }
    expect(await ask(serving(stream, { runs: { maxLength: 1000 } }), 'it/run')).toContain(
      '"code":"run_too_large"',
    )
  })

  it('describes itself with something that is no text, is listed all the same', async () => {
    const agent = { ...speaker('it'), description: 5n, model: 7, capabilities: [1, 'vision'] }
    const handler = createHandler({ agents: { it: untyped(Object.assign(agent, { run: async () => 'x' })) } })
    const [summary] = await (await handler(new Request('http://h/api/agents'))).json()
    expect(summary).toMatchObject({ name: 'it', description: null, model: null, capabilities: ['vision'] })
  })
})

describe('createHandler, with middleware that', () => {
  it.each([{}, { id: undefined }, { id: '' }, null])(
    'sets %j as identity, refuses to go on',
    async identity => {
      const seen: unknown[] = []
      const agent = new Agent({
        name: 'it',
        register: false,
        run: (_, { userId }) => {
          seen.push(userId)
        },
      })
      const handler = createHandler({
        registry: false,
        logger: false,
        agents: { it: agent },
        middleware: [
          (_, context, next) => {
            context.identity = untyped(identity)
            return next()
          },
        ],
      })
      expect(await ask(handler, 'it/run', { input: 'hi', userId: 'someone else' })).toContain(
        'internal_error',
      )
      expect(seen).toEqual([])
    },
  )

  it('throws, answers even when the log throws too', async () => {
    const fail = () => {
      throw new Error('no')
    }
    const handler = createHandler({ registry: false, logger: fail, middleware: [fail] })
    const response = await handler(new Request('http://h/api/agents'))
    expect(response.status).toBe(500)
    expect(response.headers.get('x-request-id')).toBeTruthy()
  })
})

describe('options that cannot work', () => {
  const refused = expect.objectContaining({ code: 'invalid_options' })

  it.each<[string, unknown]>([
    ['cors.allowedHeaders', { cors: { origins: '*', allowedHeaders: ['a\r\nb'] } }],
    ['cors', { cors: ['*'] }],
    ['cors', { cors: ['https://a.example/'] }],
    ['prefix', { prefix: '/api/../x' }],
    ['prefix', { prefix: '.' }],
  ])('name %s', (member, options) => {
    expect(() => createHandler(untyped<HandlerOptions>(options))).toThrow(refused)
    expect(() => createHandler(untyped<HandlerOptions>(options))).toThrow(member)
  })

  it.each<[string, () => unknown]>([
    ['an agent of nothing', () => new Agent(untyped<AgentConfig>(undefined))],
    ['a team of nothing', () => new Team(untyped(undefined))],
    ['a workflow of nothing', () => new Workflow(untyped(undefined))],
    ['an agent named `.`', () => new Agent({ name: '.', run: () => '' })],
    ['an agent named `..`', () => new Agent({ name: '..', register: false, run: () => '' })],
    [
      'an agent whose tools are no array',
      () => new Agent({ name: 'a', run: () => '', tools: untyped<[]>(5) }),
    ],
    ['a step without a function', () => steps().step('a', untyped<() => string>(undefined))],
    ['a workflow with steps and a run', () => new Workflow({ name: 'w', steps: steps(), run: () => '' })],
  ])('%s', (_, make) => {
    expect(make).toThrow(ServableError)
    expect(make).toThrow(refused)
  })
})
