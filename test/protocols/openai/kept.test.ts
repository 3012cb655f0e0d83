/** What is kept of responses, and what of them is told again. */
import { expect, it } from 'vitest'
import { Agent, createHandler, type Handler, type HandlerOptions, memoryState } from '../../../src/index.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

const asks = new Agent({
  name: 'asks',
  register: false,
  async *run(_, { ask }) {
    yield `It is ${yield* ask('size', { message: 'Which size?', schema: { type: 'string' } })}.`
  },
})

const recalls = new Agent({
  name: 'recalls',
  register: false,
  run: (_, { history = [] }) => history.map(message => `${message.role}`).join(' '),
})

const serve = (runs: NonNullable<HandlerOptions['runs']>): Handler =>
  createHandler({
    registry: false,
    agents: { asks, recalls },
    state: memoryState(),
    runs,
    plugins: [openai()],
  })

async function send(handler: Handler, path: string, body?: object) {
  const init = jsonRequest(body)
  const answer = await handler(new Request(`http://localhost/v1/${path}`, body && init))
  const told = (await answer.json()) as {
    readonly id: string
    readonly output: readonly { readonly content: readonly { readonly text: string }[] }[]
  }
  return { status: answer.status, id: told.id, text: told.output?.[0]?.content[0]?.text }
}

it('keeps nothing for `store: false`, also where inputs of all runs are kept', async () => {
  const handler = serve({ keepInput: true, disconnect: 'continue' })
  const { id } = await send(handler, 'responses', { model: 'recalls', input: 'x', store: false })
  expect(await send(handler, `responses/${id}`)).toMatchObject({ status: 404 })
  expect(await send(handler, `responses/${id}/input_items`)).toMatchObject({ status: 404 })
})

it('takes no empty text for an answer', async () => {
  const handler = serve({})
  const { id } = await send(handler, 'responses', { model: 'asks', input: 'A shirt' })
  const answer = { model: 'asks', previous_response_id: id }
  expect(await send(handler, 'responses', { ...answer, input: '' })).toMatchObject({ status: 400 })
  expect(await send(handler, 'responses', { ...answer, input: 'red' })).toMatchObject({ text: 'It is red.' })
})

it('leaves out the instructions of a response, and nothing else', async () => {
  const handler = serve({ clientSystem: 'append' })
  const input = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'A shirt' },
  ]
  const asked = await send(handler, 'responses', { model: 'asks', input })
  const answer = { model: 'asks', input: 'red', instructions: 'Be brief.' }
  const { id } = await send(handler, 'responses', { ...answer, previous_response_id: asked.id })
  const next = { model: 'recalls', input: 'And?', previous_response_id: id }
  expect(await send(handler, 'responses', next)).toMatchObject({ text: 'system user assistant' })
})

it('keeps no key of a provider, and tells nobody of it', async () => {
  const seen: unknown[] = []
  const tells = new Agent({
    name: 'tells',
    register: false,
    run: (_, { metadata }) => void seen.push(metadata),
  })
  const handler = createHandler({
    registry: false,
    agents: { tells },
    state: memoryState(),
    plugins: [openai()],
  })
  await send(handler, 'responses', { model: 'tells', input: 'x', user: 'ada', apiKey: 'sk-of-ada' })
  expect(seen).toEqual([{ openai: { model: 'tells', input: 'x', user: 'ada' } }])
})
