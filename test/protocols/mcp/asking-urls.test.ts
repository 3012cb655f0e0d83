/** Questions that name an address to open (MCP, elicitation in URL mode). */
import { describe, expect, it } from 'vitest'
import { Agent, createHandler, memoryState } from '../../../src/index.ts'
import { mcpTasks } from '../../../src/protocols/mcp/plugin.ts'
import { eventually } from '../../eventually.ts'
import { type Json, messagesIn, type Served, SHOWS_FORMS, serve, TAKES_TASKS } from './calling.ts'

describe('a call that asks to open an address', () => {
  const url = 'https://pay.example.com/order/7?state=x'
  let paid = false
  const shop = new Agent({
    ...{ name: 'shop', register: false },
    async *run(_, { ask, step }) {
      // What was done at the address is asked there, and not of the client.
      while (!(yield* step('paid', () => paid))) {
        yield 'Nearly. '
        expect(yield* ask('pay', { message: 'Pay for it', url })).toBe(true)
      }
      yield 'Paid.'
    },
  })
  const asksBoth = new Agent({
    ...{ name: 'asksBoth', register: false },
    async *run(_, { ask, parallel }) {
      yield JSON.stringify(yield* parallel([ask('size'), ask('pay', { url })]))
    },
  })
  const LATER = { of: 'shop', name: 'later', taskSupport: 'required' } as const
  const served: Served = serve(
    { tools: ['shop', 'asksBoth', LATER], tasks: mcpTasks() },
    { agents: { shop, asksBoth }, state: memoryState() },
  )
  const OPENS = { elicitation: { url: {} } }
  const call = (name: string, capabilities: object, params: object = {}) =>
    served.call(name, { input: 'x' }, { capabilities, params })
  const textIn = ({ result }: { result: Json }) => result.content[0].text

  it('is a question that the client shows with the address, until the service there knows', async () => {
    paid = false
    const first = await call('shop', OPENS)
    expect(first.result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    expect(first.result.inputRequests).toEqual({
      pay: { method: 'elicitation/create', params: { mode: 'url', message: 'Nearly. \n\nPay for it', url } },
    })
    // It is agreed to, and nothing is done yet.
    const accepted = { pay: { action: 'accept' } }
    const { requestState } = first.result
    const again = await call('shop', OPENS, { requestState, inputResponses: accepted })
    const [key = ''] = Object.keys(again.result.inputRequests)
    expect(again.result.inputRequests[key].params.url).toBe(url)
    paid = true
    const responses = { [key]: { action: 'accept', content: { answer: 'no data comes this way' } } }
    const done = await call('shop', OPENS, {
      requestState: again.result.requestState,
      inputResponses: responses,
    })
    expect(textIn(done)).toContain('Paid.')
  })

  it('is agreed to by nobody who has not seen the address', async () => {
    paid = false
    const { result } = await call('shop', OPENS, { inputResponses: { pay: { action: 'accept' } } })
    expect(result.resultType).toBe('input_required')
  })

  it('ends where the person declines', async () => {
    paid = false
    const { result } = await call('shop', OPENS)
    const { requestState } = result
    const told = await call('shop', OPENS, { requestState, inputResponses: { pay: { action: 'decline' } } })
    expect(told.result.isError).toBe(true)
  })

  it.each([
    ['shop', SHOWS_FORMS],
    ['shop', {}],
    ['asksBoth', SHOWS_FORMS],
    ['asksBoth', OPENS],
  ])(
    'is text with the address, where the client cannot ask all of it: %s, %j',
    async (name, capabilities) => {
      paid = false
      const { result } = await call(name, capabilities)
      expect(result.resultType).toBe('complete')
      expect(textIn({ result })).toContain(url)
    },
  )

  it('comes beside a form', async () => {
    const { result } = await call('asksBoth', { elicitation: { form: {}, url: {} } })
    expect(Object.values<Json>(result.inputRequests).map(({ params }) => params.mode)).toEqual([
      'form',
      'url',
    ])
    const { requestState } = result
    const inputResponses = {
      size: { action: 'accept', content: { answer: 'M' } },
      pay: { action: 'accept' },
    }
    const capabilities = { elicitation: { form: {}, url: {} } }
    expect(textIn(await call('asksBoth', capabilities, { requestState, inputResponses }))).toBe('["M",true]')
  })

  it('is a request of a task', async () => {
    paid = false
    const capabilities = { ...OPENS, ...TAKES_TASKS }
    const { taskId } = (await call('later', capabilities)).result
    const status = async () => (await served.ask('tasks/get', { taskId }, { capabilities })).result
    await eventually(async () => expect((await status()).status).toBe('input_required'))
    expect((await status()).inputRequests.pay.params).toMatchObject({ mode: 'url', url })
    const forms = { ...SHOWS_FORMS, ...TAKES_TASKS }
    expect((await served.ask('tasks/get', { taskId }, { capabilities: forms })).result.inputRequests).toEqual(
      {},
    )
    paid = true
    const inputResponses = { pay: { action: 'accept' } }
    await served.ask('tasks/update', { taskId, inputResponses }, { capabilities })
    await eventually(async () => expect((await status()).status).toBe('completed'))
  })

  /** Calls the shop as a client of 2025-11-25. `answer` gets each message, and the headers of the session. */
  async function onStream(
    capabilities: object,
    answer: (message: Json, headers: Readonly<Record<string, string>>) => Promise<unknown>,
  ): Promise<Json[]> {
    const { headers } = await served.askLegacy('initialize', { protocolVersion: '2025-11-25', capabilities })
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'shop', arguments: { input: 'x' } },
    }
    const stream = await served.send(JSON.stringify(body), { headers: session })
    if (stream.headers.get('content-type') === 'application/json') return [await stream.json()]
    let text = ''
    let seen = 0
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const messages = messagesIn(text.slice(0, text.lastIndexOf('\n\n') + 2))
      for (const message of messages.slice(seen)) await answer(message, session)
      seen = messages.length
    }
    return messagesIn(text)
  }
  const textAtEnd = (messages: readonly Json[]) => messages.at(-1).result.content[0].text

  it('is asked on the stream of a revision before, with an id', async () => {
    paid = false
    const messages = await onStream(OPENS, async ({ method, id, params }, headers) => {
      if (method !== 'elicitation/create') return
      expect(params).toEqual({ mode: 'url', message: 'Nearly. \n\nPay for it', url, elicitationId: id })
      paid = true
      const told = JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept' } })
      expect((await served.post(told, { headers })).status).toBe(202)
    })
    expect(textAtEnd(messages)).toContain('Paid.')
    expect(messages.map(({ method }) => method)).not.toContain('notifications/elicitation/complete')
  })

  it('is told to be done where the page itself has answered', async () => {
    paid = false
    const messages = await onStream(OPENS, async ({ method, id }) => {
      if (method !== 'elicitation/create') return
      paid = true
      const runId = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/.exec(id)?.[0]
      const body = JSON.stringify({ answers: [{ id: `${runId}/pay`, value: 'from the page' }] })
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      const answered = await served.handler(new Request(`http://127.0.0.1/api/runs/${runId}/answers`, init))
      expect(answered.status).toBe(200)
    })
    const asked = messages.find(({ method }) => method === 'elicitation/create')
    const done = messages.filter(({ method }) => method === 'notifications/elicitation/complete')
    expect(done.map(({ params }) => params)).toEqual([{ elicitationId: asked.id }])
    expect(textAtEnd(messages)).toContain('Paid.')
  })

  it.each([{ elicitation: {} }, { elicitation: { url: true } }, {}])(
    'is text on the stream of a client that opens none: %j',
    async capabilities => {
      paid = false
      const messages = await onStream(capabilities, async () => {})
      expect(textAtEnd(messages)).toContain(url)
    },
  )
})

describe('a question that names an address', () => {
  const asking = (url: string, schema?: unknown) => {
    const asks = new Agent({
      ...{ name: 'asks', register: false },
      async *run(_, { ask }) {
        yield* ask('open', { url, schema })
      },
    })
    const handler = createHandler({
      ...{ serve: [asks], registry: false, production: false, state: memoryState() },
      logger: () => {},
    })
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', body: '{"input":"x"}', headers }
    return handler(new Request('http://127.0.0.1/api/agents/asks/run', init))
  }

  it.each(['https://a.example', 'http://localhost:3000/x', 'http://127.0.0.1/?y#z', 'http://[::1]:1/'])(
    'is told with it: %s',
    async url => {
      const { href } = new URL(url)
      const { requests } = (await (await asking(url)).json()) as Json
      expect(requests).toMatchObject([{ kind: 'question', url: href, message: `open\n\n${href}` }])
    },
  )

  it.each([
    ['no-address', undefined],
    ['http://a.example/', undefined],
    ['javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['https://a.example@b.example/', undefined],
    ['http://localhost:1@b.example/', undefined],
    ['http://localhost.b.example/', undefined],
    [`https://a.example/${'x'.repeat(2001)}`, undefined],
    ['https://a.example/', { type: 'string' }],
  ])('fails the run if nobody should open it, or it wants a value too: %.50s %j', async (url, schema) => {
    const failed = (await (await asking(url, schema)).json()) as Json
    expect(failed).toMatchObject({ code: 'agent_failed', detail: expect.stringContaining('`url` of `open`') })
  })
})
