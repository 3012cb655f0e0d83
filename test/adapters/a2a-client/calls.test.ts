/** What goes out with the messages of remote agents: credentials, sessions, and how deep a call is. */
import { describe, expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  type Handler,
  memoryState,
  steps,
  textOf,
  Workflow,
} from '../../../src/index.ts'
import { BASE, eventsOf, noting, remote, service } from './service.ts'

interface Sent {
  readonly message: {
    readonly contextId: string
    readonly metadata: Record<string, unknown>
    readonly extensions?: readonly string[]
  }
  readonly tenant?: string
}

const sentIn = (got: readonly { readonly body: Readonly<Record<string, unknown>> }[]) =>
  got.flatMap(({ body }) => (body.params === undefined ? [] : [body.params as Sent]))

describe('a message to a remote agent', () => {
  it('has the headers that the function gives for the run, and the trace', async () => {
    const { fetch, got } = noting(service(() => 'hi'))
    const asked: object[] = []
    const agent = remote({
      fetch,
      headers: ({ signal, ...facts }) => {
        asked.push(facts)
        expect(signal).toBeInstanceOf(AbortSignal)
        return { authorization: `Bearer of ${facts.userId}` }
      },
    })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await eventsOf(agent, 'hi', { runId: 'r', userId: 'ann', sessionId: 's', traceparent, apiKey: 'secret' })
    expect(asked[0]).toEqual({
      ...{ url: `${BASE}/.well-known/agent-card.json`, method: 'GET', runId: 'r' },
      ...{ userId: 'ann', sessionId: 's', identity: undefined },
    })
    for (const { headers } of got) {
      expect(headers.get('authorization')).toBe('Bearer of ann')
      expect(headers.get('traceparent')).toBe(traceparent)
    }
  })

  it('is not sent where the function fails', async () => {
    const { fetch, got } = noting(service(() => 'hi'))
    const headers = () => {
      throw new Error('no token today')
    }
    await expect(eventsOf(remote({ fetch, headers }))).rejects.toMatchObject({
      ...{ code: 'agent_failed', message: expect.stringContaining('no token today') },
    })
    expect(got).toEqual([])
  })

  it('names the agent, the skill, the tenant and the extensions that the options name', async () => {
    const { fetch, got } = noting(service(() => 'hi', { a2a: { tenants: { authorize: () => true } } }))
    const extensions = ['https://example.com/ext/a', 'https://example.com/ext/b']
    await eventsOf(remote({ fetch, agentName: 'there', skillId: 's', tenant: 't', extensions }))
    expect(sentIn(got)).toMatchObject([
      {
        tenant: 't',
        message: { extensions, metadata: { 'servable/depth': 1, agentName: 'there', skillId: 's' } },
      },
    ])
    expect(got.at(-1)!.headers.get('a2a-extensions')?.split(/,\s*/)).toEqual(extensions)
    expect(got.at(-1)!.headers.get('a2a-version')).toBe('1.0')
  })

  it('is not sent with data that is neither base64 nor a URL', async () => {
    const { fetch, methods } = noting(service(() => 'hi'))
    const image = { type: 'image', data: '*', mimeType: 'image/png' } as const
    await expect(eventsOf(remote({ fetch }), [image])).rejects.toMatchObject({ code: 'invalid_input' })
    expect(methods()).not.toContain('SendMessage')
    expect(methods()).not.toContain('SendStreamingMessage')
  })

  it('is of the context of its session, which the memory of the session keeps', async () => {
    const { fetch, got } = noting(service(() => 'hi'))
    const state = memoryState()
    const ask = async (sessionId: string | undefined, user: string) => {
      // Each time in another process.
      const handler = createHandler({
        ...{ registry: false, logger: false, state, serve: [remote({ fetch })] },
        middleware: [
          (_, context, next) => {
            context.identity = { id: user }
            return next()
          },
        ],
      })
      const body = JSON.stringify({ input: 'hi', sessionId })
      const headers = { 'content-type': 'application/json' }
      const answer = await handler(
        new Request(`${BASE}/api/agents/here/run`, { method: 'POST', headers, body }),
      )
      expect(answer.status).toBe(200)
      return sentIn(got).at(-1)!.message.contextId
    }
    const first = await ask('s', 'ann')
    expect(await ask('s', 'ann')).toBe(first)
    const others = [await ask('s', 'bob'), await ask('t', 'ann'), await ask(undefined, 'ann')]
    expect(new Set([first, ...others]).size).toBe(4)
  })

  it('is of the context of its session where nothing keeps one', async () => {
    const { fetch, got } = noting(service(() => 'hi'))
    const agent = remote({ fetch })
    for (const sessionId of ['s', 's', 't']) await eventsOf(agent, 'hi', { sessionId })
    const [one, two, three] = sentIn(got).map(({ message }) => message.contextId)
    expect(two).toBe(one)
    expect(three).not.toBe(one)
  })

  it('goes on with the task that waited for credentials', async () => {
    const { fetch, got } = noting(
      service(async function* (input) {
        yield textOf(input) === 'signed in' ? 'welcome' : 'sign in'
        return textOf(input) === 'signed in' ? undefined : { finishReason: 'auth_required' as const }
      }),
    )
    const agent = remote({ fetch })
    const ask = (input: string) => eventsOf(agent, input, { sessionId: 's' })
    expect((await ask('hi')).at(-1)).toMatchObject({ finishReason: 'auth_required', message: 'sign in' })
    expect(await ask('signed in')).toEqual([
      { type: 'text', text: 'welcome' },
      { type: 'finish', finishReason: 'stop' },
    ])
    expect(await ask('signed in')).toHaveLength(2)
    const tasks = got.flatMap(({ method, body }) =>
      method === 'SendStreamingMessage'
        ? [(body.params as { message: { taskId?: string } }).message.taskId]
        : [],
    )
    expect(tasks).toEqual([undefined, expect.any(String), undefined])
  })
})

describe('a call over several services', () => {
  it('is refused once it has come over eight of them', async () => {
    // A service whose agent calls itself.
    const handlers: Handler[] = []
    const { fetch, got } = noting(request => handlers[0]!(request))
    const itself = remote({ fetch })
    const agent = new Agent({
      name: 'there',
      register: false,
      run: (input, context) => itself.stream!(input, context) as never,
    })
    handlers.push(
      createHandler({ registry: false, logger: false, production: false, serve: [agent], a2a: {} }),
    )
    await expect(eventsOf(itself)).rejects.toMatchObject({
      message: expect.stringContaining('has come over 8 services'),
    })
    const depths = sentIn(got).flatMap(({ message }) => message?.metadata?.['servable/depth'] ?? [])
    expect(depths).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it.each([8, 9, 1e9, 7.5])('is refused at a depth of %d', async depth => {
    const { fetch, got } = noting(service(() => 'hi'))
    const metadata = { message: { metadata: { 'servable/depth': depth } } }
    await expect(eventsOf(remote({ fetch }), 'hi', { metadata })).rejects.toMatchObject({
      code: 'unsupported_operation',
    })
    expect(got).toEqual([])
  })

  it.each([[-1], ['3'], [null], [{}]])('begins to count where the depth is %o', async depth => {
    const { fetch, got } = noting(service(() => 'hi'))
    const metadata = { message: { metadata: { 'servable/depth': depth, secret: 'x' } } }
    await eventsOf(remote({ fetch }), 'hi', { metadata })
    expect(sentIn(got)).toMatchObject([{ message: { metadata: { 'servable/depth': 1 } } }])
    expect(JSON.stringify(got)).not.toContain('secret')
  })
})

describe('a workflow', () => {
  it('asks several remote agents at once, each in a context of its own', async () => {
    const { fetch, got } = noting(service(input => `[${textOf(input)}]`))
    const agent = remote({ fetch })
    const answers: string[] = []
    const flow = new Workflow({
      name: 'flow',
      register: false,
      async *run(input, { call, parallel }) {
        const [one, two] = yield* parallel([call(agent, input), call(agent, 'b')])
        answers.push(one.text, two.text)
      },
    })
    await flow.run('a', { sessionId: 's' })
    expect(answers).toEqual(['[a]', '[b]'])
    const messages = sentIn(got).map(({ message }) => message)
    expect(new Set(messages.map(({ contextId }) => contextId)).size).toBe(2)
  })

  it('tries a step again with a new message', async () => {
    let times = 0
    const { fetch, got } = noting(
      service(() => {
        if (++times === 1) throw new Error('not now')
        return 'done'
      }),
    )
    const agent = remote({ fetch })
    const flow = new Workflow({
      name: 'flow',
      register: false,
      steps: steps().step('asks', (input, { call }) => call(agent, input), {
        retry: { times: 2, backoff: 1 },
      }),
    })
    expect(await flow.run('a')).toMatchObject({ text: 'done' })
    const ids = sentIn(got).map(({ message }) => (message as unknown as { messageId: string }).messageId)
    expect(new Set(ids).size).toBe(2)
  })
})
