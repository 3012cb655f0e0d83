import SwaggerParser from '@apidevtools/swagger-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it } from 'vitest'
import { echo } from '../../examples/agents/echo.ts'
import { ndjson } from '../../examples/ndjson.ts'
import { Agent, createHandler, memoryState, openapi } from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'

let asked = 0
const endless = new Agent({
  name: 'endless',
  register: false,
  async *run(_, { signal }) {
    while (signal?.aborted !== true) {
      asked++
      yield 'again'
    }
  },
})
const unspeakable = new Agent({
  name: 'unspeakable',
  register: false,
  async *run() {
    yield { type: 'tool_call_end', toolCallId: '1', result: 1n }
  },
})
const options = {
  agents: { echo, endless, unspeakable },
  registry: false,
  plugins: [ndjson()],
  logger: false,
} as const
const handler = createHandler({ ...options, state: memoryState(), runs: { store: 'asked' } })
const post = (path: string) =>
  handler(new Request(`http://127.0.0.1/api/agents/${path}/ndjson`, jsonRequest({ input: 'hello' })))

it('asks an agent for no more than the client reads', async () => {
  const reader = (await post('endless')).body?.getReader()
  for (let line = 0; line < 3; line++) await reader?.read()
  await new Promise(resolve => setImmediate(resolve))
  expect(asked).toBeLessThanOrEqual(4)
  await reader?.cancel()
})

it('ends the answer of a run that it cannot write', async () => {
  await expect((await post('unspeakable')).text()).rejects.toThrow()
  expect((await post('echo')).status).toBe(200)
})

it('describes itself in a document that is right', async () => {
  const document = openapi(options)
  const copy = () => JSON.parse(JSON.stringify(document))
  expect((await new Validator().validate(copy())).errors).toBeUndefined()
  await SwaggerParser.validate(copy())
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/api/agents/{name}/ndjson', '/api/ndjson/counts']),
  )
  expect(document.components.schemas).toHaveProperty('LineCount')
})
