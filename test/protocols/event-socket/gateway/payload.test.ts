import { describe, expect, it } from 'vitest'
import { parseRun } from '../../../../src/protocols/event-socket/gateway/payload.ts'

const bytes = new Uint8Array([104, 105])
const image = (data: unknown) => ({ type: 'image', data, mimeType: 'image/png' })

it('has the fields of a body', () => {
  const payload = { name: 'echo', input: 'x', sessionId: 's', messageId: 'm2', replaces: 'm1' }
  expect(parseRun(payload)).toEqual(payload)
})

describe('a payload with attachments', () => {
  it('has them as base64, in its input and in each message of its history', () => {
    const payload = (data: unknown) => ({
      name: 'echo',
      input: [image(data)],
      history: [
        { role: 'user', content: [{ type: 'text', text: 'See' }, image(data)] },
        { role: 'assistant', content: 'Seen' },
      ],
    })
    expect(parseRun(payload(bytes))).toEqual(payload('aGk='))
  })

  it.each<[unknown, string]>([
    [5, 'history'],
    [[null], 'history.0'],
    [[{ role: 'user', content: bytes }], 'history.0.content'],
    [[{ role: 'user', content: [bytes] }], 'history.0.content.0.type'],
    [Array(1001).fill({ role: 'user', content: [image(bytes)] }), 'history'],
  ])('names what is wrong in its history', (history, path) => {
    expect(() => parseRun({ name: 'echo', input: 'x', history })).toThrow(
      expect.objectContaining({ code: 'invalid_body', issues: [expect.objectContaining({ path })] }),
    )
  })
})
