/** What the SDK of OpenAI does with responses that the service keeps, and with conversations. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Item, Kept, Sdk, Stream, Told } from '../../frameworks/openai-clients/way.ts'
import { own } from '../runs/client.ts'
import { openGate, type Server, tell } from './server.ts'
import { amountOfItsOwn } from './ways.ts'

const itemsOf = ({ output }: Kept, type: string): Item[] => output.filter(item => item.type === type)

async function all<T>(listed: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const one of listed) found.push(one)
  return found
}

/** What of an event is the same in every major: 5 adds later text to earlier events. */
const brief = ({ type, sequence_number, delta }: Told) => ({ type, sequence_number, delta })

/** The response of a stream. */
const idOf = ([first]: readonly Told[]): string => String(first?.response?.id)

/** What the error of the SDK is. */
function refused(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    answer => expect.unreachable(`it is answered: ${JSON.stringify(answer)}`),
    error => {
      const { status, code, param, requestID } = error
      expect(requestID).toEqual(expect.any(String))
      return { name: error.constructor.name, status, code, ...(param != null && { param }) }
    },
  )
}

const GONE = { name: 'NotFoundError', status: 404, code: 'run_not_found' }
const WRONG = { name: 'BadRequestError', status: 400, code: 'invalid_body' }
const NO_PREVIOUS = { name: 'BadRequestError', status: 400, code: 'previous_response_not_found' }

/** With the SDKs of two users. */
export function keptCases(sdk: () => Sdk, ofBob: () => Sdk, server: Server): void {
  const create = (body: object) => sdk().responses.create(body)
  const retrieve = (id: string) => sdk().responses.retrieve(id)

  it('lists models', async () => {
    const ids = (await all(sdk().models.list())).map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['says', 'paints']))
    expect(await sdk().models.retrieve('says')).toMatchObject({ id: 'says', object: 'model' })
    expect(await refused(sdk().models.retrieve('nobody'))).toMatchObject({ code: 'model_not_found' })
  })

  it('retrieves a response, and what it was asked', async () => {
    const created = await create({ model: 'looks', input: 'x', metadata: { topic: 'weather' } })
    expect(created).toMatchObject({
      object: 'response',
      status: 'completed',
      output_text: 'I look. 21 degrees.',
      metadata: { topic: 'weather' },
    })
    expect(itemsOf(created, 'mcp_call')).toMatchObject([
      { server_label: 'servable', name: 'weather', arguments: '{"place":"Rome"}', output: '{"degrees":21}' },
      { name: 'weather', arguments: '{"place":"Mars"}', error: expect.anything() },
    ])
    expect(await retrieve(created.id)).toEqual(created)
    expect(await all(sdk().responses.inputItems.list(created.id))).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] },
    ])
  })

  it('deletes a response', async () => {
    const { id } = await create({ model: 'says', input: 'x' })
    await sdk().responses.delete(id)
    expect(await refused(retrieve(id))).toEqual(GONE)
    expect(await refused(create({ model: 'says', input: 'x', previous_response_id: id }))).toMatchObject(
      NO_PREVIOUS,
    )
  })

  it('keeps no response that it is told not to keep', async () => {
    const { id, store } = await create({ model: 'says', input: 'x', store: false })
    expect(store).toBe(false)
    expect(await refused(retrieve(id))).toEqual(GONE)
  })

  it("knows nothing of another user's response", async () => {
    const { id } = await ofBob().responses.create({ model: 'says', input: 'x' })
    expect(await refused(retrieve(id))).toEqual(GONE)
    expect(await refused(sdk().responses.delete(id))).toEqual(GONE)
    expect(await refused(create({ model: 'says', input: 'x', previous_response_id: id }))).toMatchObject(
      NO_PREVIOUS,
    )
  })

  it('goes on from a response in two branches', async () => {
    const model = 'remembers'
    const { id } = await create({ model, input: 'one' })
    const next = (input: string, previous_response_id: string) =>
      create({ model, input, previous_response_id })
    const [left, right] = await Promise.all([next('two', id), next('three', id)])
    expect(left.output_text).toBe('user one, assistant  > one > two')
    expect(right.output_text).toBe('user one, assistant  > one > three')
    expect((await next('four', left.id)).output_text).toBe(
      'user one, assistant  > one, user two, assistant user one, assistant  > one > two > four',
    )
  })

  it('remembers a conversation', async () => {
    const conversation = own('conversation')
    const say = (input: string) => create({ model: 'remembers', input, conversation })
    await say('one')
    const { output_text, conversation: told } = await say('two')
    expect(output_text).toMatch(/^user one, assistant .* > two$/)
    expect(told).toEqual({ id: conversation })
    const { id } = await create({ model: 'says', input: 'x' })
    const both = create({ model: 'says', input: 'x', conversation, previous_response_id: id })
    expect(await refused(both)).toMatchObject(WRONG)
  })

  it.each([
    ['n', { n: 2 }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['tool_choice', { tool_choice: 'required' }],
  ])('is refused a completion with what cannot be done: %s', async (param, more) => {
    const messages = [{ role: 'user', content: 'x' }]
    const asked = sdk().chat.completions.create({ model: 'says', messages, ...more })
    expect(await refused(asked)).toEqual({ ...WRONG, param })
  })

  it.each([
    ['store', { store: false, background: true }],
    ['tool_choice', { tool_choice: 'required' }],
    ['text.format', { text: { format: { type: 'json_object' } } }],
  ])('is refused a response with what cannot be done: %s', async (param, more) => {
    expect(await refused(create({ model: 'says', input: 'x', ...more }))).toEqual({ ...WRONG, param })
  })

  it('is answered later', async () => {
    const gate = own('gate')
    const created = await create({ model: 'gated', input: gate, background: true })
    expect(created).toMatchObject({ status: 'queued', background: true, output: [] })
    await eventually(async () => expect(await retrieve(created.id)).toMatchObject({ status: 'in_progress' }))
    await openGate(server, gate)
    await eventually(async () => expect((await retrieve(created.id)).status).toBe('completed'))
    expect((await retrieve(created.id)).output_text).toBe('First and last.')
  })

  it('cancels what is answered later, and nothing else', async () => {
    const text = own('waits')
    const { id } = await create({ model: 'waits', input: text, background: true })
    await eventually(async () => expect(await tell(server, text)).toBe('started'))
    expect(await sdk().responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    expect(await sdk().responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    await eventually(async () => expect(await tell(server, text)).toBe('stopped'))
    const done = await create({ model: 'says', input: 'x' })
    expect(await refused(sdk().responses.cancel(done.id))).toMatchObject({ name: 'BadRequestError' })
  })

  it('is told that a stream was cancelled', async () => {
    const told: Told[] = []
    for await (const event of sdk().responses.stream({
      model: 'waits',
      input: own('waits'),
      background: true,
    })) {
      told.push(event)
      if (event.type === 'response.output_text.delta') await sdk().responses.cancel(idOf(told))
    }
    const response = { id: idOf(told), status: 'cancelled', output: [{ content: [{ text: 'I wait. ' }] }] }
    expect(told.at(-1)).toMatchObject({ type: 'response.incomplete', response })
  })

  it('retrieves a response that failed', async () => {
    const stream = sdk().responses.stream({ model: 'breaks', input: own('broken') })
    const told = await all(stream)
    const last = told.at(-1)
    expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
    const error = last?.response?.error
    expect(error).toEqual({ code: 'agent_failed', message: 'Internal server error' })
    expect(await retrieve(idOf(told))).toMatchObject({ status: 'failed', error })
  })

  it.each(['stream', 'retrieve'] as const)('comes back in the middle of a stream with `%s`', async how => {
    const gate = own('gate')
    const first = sdk().responses.stream({ model: 'gated', input: gate, background: true })
    const [begun, isTold] = begin(first, 'response.output_text.delta')
    await isTold
    const response_id = idOf(begun)
    // It has half of the stream now, and leaves.
    const half = begun.slice()
    first.abort()
    const starting_after = half.at(-2)?.sequence_number ?? 0
    const again =
      how === 'stream'
        ? sdk().responses.stream({ response_id, starting_after })
        : await sdk().responses.retrieve(response_id, { stream: true, starting_after })
    const rest: Told[] = []
    for await (const event of again) {
      rest.push(event)
      if (rest.length === 1) await openGate(server, gate)
    }
    const numbers = [...half.slice(0, -1), ...rest].map(({ sequence_number }) => sequence_number)
    expect(numbers).toEqual(numbers.map((_, at) => at))
    expect(rest.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { id: response_id, status: 'completed' },
    })
    const whole = await all(await sdk().responses.retrieve(response_id, { stream: true }))
    expect(whole.slice(starting_after + 1).map(brief)).toEqual(rest.map(brief))
    expect((await retrieve(response_id)).output).toEqual(whole.at(-1)?.response?.output)
  })

  it('decides several calls in a stream, each once', async () => {
    const [one, two] = [amountOfItsOwn(), amountOfItsOwn()]
    const model = 'pays'
    const input = `${one} ${two}`
    const first = await sdk().responses.stream({ model, input }).finalResponse()
    expect(first.status).toBe('completed')
    const requests = itemsOf(first, 'mcp_approval_request')
    expect(requests).toMatchObject([
      { server_label: 'servable', name: 'pay', arguments: `{"amount":${one}}` },
      { name: 'pay', arguments: `{"amount":${two}}` },
    ])
    const decisions = requests.map(({ id }, at) => ({
      type: 'mcp_approval_response',
      approval_request_id: id,
      approve: at === 0,
      reason: 'too much',
    }))
    const answer = { model, input: decisions, previous_response_id: first.id }
    const last = await sdk().responses.stream(answer).finalResponse()
    // The same answer again is the same run.
    const { output_text } = await create(answer)
    expect(output_text).toBe(`paid ${one}, not paid: The call was denied: too much`)
    expect(itemsOf(last, 'message')).toMatchObject([{ content: [{ text: output_text }] }])
    const paid = await Promise.all([one, two].map(amount => tell(server, amount, 'paid')))
    expect(paid).toEqual(['1', '0'])
  })

  it('answers a question', async () => {
    const model = 'asks'
    const first = await create({ model, input: 'a shirt' })
    expect(first).toMatchObject({ status: 'completed', output_text: 'A shirt. \n\nWhich size?' })
    const { output_text } = await create({ model, input: 'M', previous_response_id: first.id })
    expect(output_text).toBe('It is M.')
  })
}

/** Reads a stream, and says when an event of a type has come. */
function begin(stream: Stream, type: string): [Told[], Promise<void>] {
  const told: Told[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const read = async () => {
    for await (const event of stream) {
      told.push(event)
      if (event.type === type) resolve()
    }
    throw new Error('the stream has ended')
  }
  read().catch(reject)
  return [told, promise]
}
