import { describe, expect, it } from 'vitest'
import { Agent, createHandler } from '../../../src/index.ts'

const talker = new Agent({ name: 'talker', register: false, run: () => 'hello' })
const handler = createHandler({ registry: false, logger: false, agents: { talker }, a2a: true })

async function ask(id: string): Promise<string> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'SendStreamingMessage', params: { message } })
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  const response = await handler(new Request('http://127.0.0.1/', { method: 'POST', headers, body }))
  return response.text()
}

describe('the id of a request', () => {
  it('is repeated by each event of a stream', async () => {
    const id = 'x'.repeat(1000)
    expect((await ask(id)).split(id).length).toBeGreaterThan(2)
  })

  it('is refused where it is long: a stream would be as many times as large', async () => {
    const { id, error } = JSON.parse(await ask('x'.repeat(1001)))
    expect(id).toBeNull()
    expect(error).toMatchObject({
      code: -32600,
      message: expect.stringMatching(/^`id` must be text of at most 1000/),
    })
  })
})
