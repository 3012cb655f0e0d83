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
    { input: 'hi', sessionId: 'x'.repeat(500), messageId: 'm2', replaces: 'm1' },
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
    [{ input: 'hi', replaces: '' }, 'replaces'],
    [{ input: 'hi', replaces: ['m'] }, 'replaces'],
    [{ input: 'hi', replaces: long }, 'replaces'],
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

const call = { toolCallId: 'c1', toolName: 'add', args: { a: 1 } }
const asks = { role: 'assistant', toolCalls: [call] }
const answers = { role: 'tool', toolCallId: 'c1', result: 3 }
const tool = { name: 'pick', parameters: { type: 'object', properties: {} } }

/** A history that is one, of any messages in any order. */
const histories = fc
  .array(
    fc.oneof(
      fc.record({ role: fc.constantFrom('system', 'user'), content: fc.string() }),
      fc.record({ role: fc.constant('assistant'), content: fc.string() }),
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }),
    ),
    { maxLength: 20 },
  )
  .map(drawn =>
    drawn.flatMap<object>(item =>
      Array.isArray(item)
        ? [
            { role: 'assistant', toolCalls: item.map(toolCallId => ({ toolCallId, toolName: 't' })) },
            ...item.map(toolCallId => ({ role: 'tool', toolCallId, result: null })),
          ]
        : [item],
    ),
  )

describe('the history of a body', () => {
  const take = (history: unknown) => parseRunBody({ input: 'hi', history }).history

  it.each([
    [[]],
    [[{ role: 'user', content: '' }, { role: 'assistant' }]],
    [[asks, answers, asks, answers]],
    [
      [
        { role: 'user', content: [] },
        { role: 'system', content: [text] },
      ],
    ],
  ])('is taken: %j', history => {
    expect(take(history)).toEqual(history)
  })

  it.each<[unknown, string]>([
    [{}, 'history'],
    [[null], 'history.0'],
    [[{ content: 'x' }], 'history.0.role'],
    [[{ role: 'constructor', content: 'x' }], 'history.0.role'],
    [[{ role: 'user' }], 'history.0.content'],
    [[{ role: 'user', content: 5 }], 'history.0.content'],
    [[{ role: 'user', content: [{ type: 'video' }] }], 'history.0.content.0.type'],
    [[{ role: 'assistant', toolCalls: [{ ...call, toolCallId: '' }] }], 'history.0.toolCalls.0.toolCallId'],
    [[{ role: 'assistant', toolCalls: [{ toolCallId: 'c' }] }], 'history.0.toolCalls.0.toolName'],
    [[{ role: 'assistant', toolCalls: Array(1001).fill(call) }], 'history.0.toolCalls'],
    [[asks, { role: 'tool', toolCallId: 'c1' }], 'history.1.result'],
    [[answers], 'history.0.toolCallId'],
    [[answers, asks], 'history.0.toolCallId'],
    [[asks, answers, answers], 'history.2.toolCallId'],
    [[asks, { ...answers, toolCallId: '__proto__' }], 'history.1.toolCallId'],
    [Array(1001).fill({ role: 'user', content: '' }), 'history'],
    [[{ role: 'user', content: 'x'.repeat(1024 * 1024) }], 'history'],
    [[asks, { ...answers, result: ['x'.repeat(1024 * 1024)] }], 'history'],
  ])('is refused, and the error names `%s`', (history, path) => {
    const error = errorOf({ input: 'hi', history })
    expect(error.code).toBe('invalid_body')
    expect(error.message).toContain(`\`${path}\``)
    expect(error.issues.map(issue => issue.path)).toEqual([path])
  })

  it('is as long as it may be, and no longer', () => {
    const empty = JSON.stringify([{ role: 'user', content: '' }]).length
    const of = (length: number) => [{ role: 'user', content: 'x'.repeat(length - empty) }]
    expect(take(of(1024 * 1024))).toHaveLength(1)
    expect(errorOf({ input: 'hi', history: of(1024 * 1024 + 1) }).code).toBe('invalid_body')
  })

  it('keeps all that is told, and nothing else', () => {
    fc.assert(
      fc.property(histories, history => {
        expect(take(history.map(message => ({ ...message, forged: true })))).toEqual(history)
      }),
    )
  })

  it('loses a call, and its answer is refused', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (history, drawn) => {
        const asking = history.filter(message => 'toolCalls' in message)
        const lost = asking[drawn % Math.max(1, asking.length)]
        fc.pre(lost !== undefined)
        const rest = history.filter(message => message !== lost)
        // Another call of the same id may come before.
        fc.pre(new Set(idsIn(history)).size === idsIn(history).length)
        expect(errorOf({ input: 'hi', history: rest }).issues[0]?.path).toMatch(/^history\.\d+\.toolCallId$/)
      }),
    )
  })
})

function idsIn(history: readonly object[]): string[] {
  return history.flatMap(message => ('toolCallId' in message ? [String(message.toolCallId)] : []))
}

describe('the tools of a body', () => {
  it.each([[[]], [[tool]], [[{ name: 'A-z_9' }, { name: 'x'.repeat(64) }]]])('are taken: %j', clientTools => {
    expect(parseRunBody({ input: 'hi', clientTools })).toEqual({ input: 'hi', clientTools })
  })

  it.each<[unknown, string]>([
    [tool, 'clientTools'],
    [[null], 'clientTools.0'],
    [[{}], 'clientTools.0.name'],
    ...['', 'two words', 'a.b', 'x'.repeat(65), '__proto__', 'ü', 'a\n'].map(
      name => [[{ name }], 'clientTools.0.name'] as [unknown, string],
    ),
    [[{ name: 'a', description: 5 }], 'clientTools.0.description'],
    [[{ name: 'a', parameters: true }], 'clientTools.0.parameters'],
    [[{ name: 'a', parameters: [] }], 'clientTools.0.parameters'],
    [[{ name: 'a', parameters: { type: 'array' } }], 'clientTools.0.parameters'],
    [[tool, tool], 'clientTools'],
    [Array.from({ length: 129 }, (_, index) => ({ name: `t${index}` })), 'clientTools'],
    [[{ name: 'a', description: 'x'.repeat(256 * 1024) }], 'clientTools'],
  ])('are refused, and the error names `%s`', (clientTools, path) => {
    const error = errorOf({ input: 'hi', clientTools })
    expect([error.code, ...error.issues.map(issue => issue.path)]).toEqual(['invalid_body', path])
  })

  it('are any JSON, or refused', () => {
    const shaped = fc.array(
      fc.record({ name: fc.jsonValue(), parameters: fc.jsonValue() }, { requiredKeys: [] }),
    )
    const messages = fc.array(
      fc.record(
        {
          role: fc.constantFrom('user', 'assistant', 'tool'),
          content: fc.jsonValue(),
          toolCalls: fc.jsonValue(),
        },
        { requiredKeys: ['role'] },
      ),
    )
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), shaped),
        fc.oneof(fc.jsonValue(), messages),
        (clientTools, history) => {
          try {
            const body = parseRunBody({ input: 'hi', clientTools, history })
            expect([Array.isArray(body.clientTools), Array.isArray(body.history)]).toEqual([true, true])
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalid_body' })
          }
        },
      ),
    )
  })
})
