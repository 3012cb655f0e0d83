import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServableError } from '../../src/index.ts'
import { parseRunBody } from '../../src/runs/input.ts'

function errorOf(value: unknown): ServableError {
  try {
    parseRunBody(value)
  } catch (error) {
    if (error instanceof ServableError) return error
    throw error
  }
  throw new Error('the body was accepted')
}

const text = { type: 'text', text: 'x' }
const long = 'x'.repeat(501)

describe('parseRunBody', () => {
  it.each([
    { input: 'hi' },
    { input: ' ' },
    { input: [text] },
    { input: [{ type: 'text', text: '' }] },
    { input: [{ type: 'image', data: 'https://example.com/a.png' }] },
    { input: [{ type: 'image', data: 'aGk=', mimeType: 'image/svg+xml' }] },
    { input: [{ type: 'audio', data: 'aGk=', mimeType: 'audio/*' }] },
    { input: [text, { type: 'file', data: 'aGk=', mimeType: 'text/plain', filename: 'a.txt' }] },
    { input: 'hi', sessionId: 's', userId: 'u', apiKey: 'k' },
    { input: 'hi', sessionId: 'x'.repeat(500) },
  ])('takes %j', body => {
    expect(parseRunBody(body)).toEqual(body)
  })

  it('leaves out fields that it does not know', () => {
    const body = JSON.parse('{"input":"hi","__proto__":{"a":1},"shiny":true}')
    expect(Object.keys(parseRunBody(body))).toEqual(['input'])
    expect(parseRunBody({ input: [{ ...text, extra: 1 }] })).toEqual({ input: [text] })
  })

  it.each<[unknown, string]>([
    [{}, 'input'],
    [{ input: undefined }, 'input'],
    [{ input: null }, 'input'],
    [{ input: '' }, 'input'],
    [{ input: 5 }, 'input'],
    [{ input: {} }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: [null] }, 'input.0'],
    [{ input: ['text'] }, 'input.0'],
    [{ input: [{}] }, 'input.0.type'],
    [{ input: [{ type: 'video' }] }, 'input.0.type'],
    [{ input: [{ type: 'constructor' }] }, 'input.0.type'],
    [{ input: [{ type: 'text' }] }, 'input.0.text'],
    [{ input: [{ type: 'text', text: 5 }] }, 'input.0.text'],
    [{ input: [text, { type: 'image' }] }, 'input.1.data'],
    [{ input: [{ type: 'image', data: '' }] }, 'input.0.data'],
    [{ input: [{ type: 'image', data: ['x'] }] }, 'input.0.data'],
    [{ input: [{ type: 'image', data: 'x', mimeType: 'png' }] }, 'input.0.mimeType'],
    [{ input: [{ type: 'audio', data: 'x', mimeType: 'a/b\r\nx: y' }] }, 'input.0.mimeType'],
    [{ input: [{ type: 'file', data: 'x' }] }, 'input.0.mimeType'],
    [{ input: [{ type: 'file', mimeType: 'a/b' }] }, 'input.0.data'],
    [{ input: [{ type: 'file', data: 'x', mimeType: 'a/b', filename: 5 }] }, 'input.0.filename'],
    [{ input: 'hi', sessionId: '' }, 'sessionId'],
    [{ input: 'hi', sessionId: 5 }, 'sessionId'],
    [{ input: 'hi', sessionId: null }, 'sessionId'],
    [{ input: 'hi', sessionId: long }, 'sessionId'],
    [{ input: 'hi', userId: '' }, 'userId'],
    [{ input: 'hi', userId: ['u'] }, 'userId'],
    [{ input: 'hi', userId: long }, 'userId'],
    [{ input: 'hi', apiKey: '' }, 'apiKey'],
    [{ input: 'hi', apiKey: {} }, 'apiKey'],
    [{ input: 'hi', apiKey: long }, 'apiKey'],
  ])('refuses %j and names `%s`', (body, path) => {
    const error = errorOf(body)
    expect(error.code).toBe('invalid_body')
    expect(error.message).toContain(`\`${path}\``)
    expect(error.issues.map(issue => issue.path)).toContain(path)
  })

  it.each([undefined, null, 5, true, 'hi', () => {}])('refuses %s as a whole', body => {
    const error = errorOf(body)
    expect(error.code).toBe('invalid_body')
    expect(error.message).toContain('`body`')
  })

  it('names every wrong field', () => {
    const { issues } = errorOf({ input: 5, sessionId: 5, apiKey: '' })
    expect(issues.map(({ path }) => path)).toEqual(['input', 'sessionId', 'apiKey'])
  })

  it('never repeats what was sent', () => {
    const secret = 'sk-canary'
    for (const body of [
      secret,
      { input: { a: secret } },
      { input: [{ type: secret }] },
      { input: 'x', userId: [secret] },
    ]) {
      const { message, issues } = errorOf(body)
      expect(JSON.stringify({ message, issues })).not.toContain(secret)
    }
  })

  it('stays short for an input with a thousand wrong parts', () => {
    const { message } = errorOf({ input: Array.from({ length: 1000 }, () => ({ type: 'text' })) })
    expect(message.length).toBeLessThan(1000)
  })

  it('answers any JSON with a body or an `invalid_body`', () => {
    const shaped = fc.record({ input: fc.jsonValue(), sessionId: fc.jsonValue() }, { requiredKeys: [] })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shaped), value => {
        try {
          expect(parseRunBody(value).input).toBeTruthy()
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_body' })
        }
      }),
    )
  })
})
