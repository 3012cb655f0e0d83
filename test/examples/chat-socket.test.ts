/** The parser of the chat's messages. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseMessage } from '../../examples/chat-socket.ts'

const id = fc.string({ minLength: 1, maxLength: 500 })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const message = fc.oneof(
  fc.record({
    type: fc.constant('send'),
    ref: maybe(id),
    agent: id,
    session: id,
    input: id,
    background: maybe(fc.boolean()),
  }),
  fc.record({ type: fc.constant('stop'), ref: maybe(id), run: id }),
  fc.record({
    type: fc.constant('attach'),
    agent: id,
    session: id,
    run: maybe(id),
    after: maybe(fc.maxSafeNat()),
  }),
  fc.record({ type: fc.constant('runs'), session: maybe(id), cursor: maybe(id) }),
  fc.record({ type: fc.constant('sessions'), cursor: maybe(id) }),
  fc.record({
    type: fc.constant('answer'),
    run: id,
    answers: fc.array(fc.record({ id, decision: fc.constantFrom('approve', 'deny') }), {
      minLength: 1,
      maxLength: 5,
    }),
  }),
)

const codeOf = (data: string | Uint8Array) => {
  try {
    parseMessage(data)
    return undefined
  } catch (error) {
    return error as { code: string; issues: readonly { path: string }[] }
  }
}

it('reads every message as it was sent, without unknown members', () => {
  fc.assert(
    fc.property(message, sent => {
      const text = JSON.stringify(sent)
      expect(parseMessage(JSON.stringify({ ...sent, more: 1 }))).toEqual(JSON.parse(text))
    }),
  )
})

it('names a member that is wrong, and throws nothing but `invalid_body`', () => {
  fc.assert(
    fc.property(message, fc.nat(), (sent, pick) => {
      const text = JSON.parse(JSON.stringify(sent))
      const names = Object.keys(text)
      const name = names[pick % names.length] ?? ''
      const error = codeOf(JSON.stringify({ ...text, [name]: { wrong: true } }))
      expect([error?.code, error?.issues[0]?.path.split('.')[0]]).toEqual(['invalid_body', name])
    }),
  )
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.uint8Array()), data => {
      const error = codeOf(data)
      if (error !== undefined) expect(error.code).toBe('invalid_body')
    }),
  )
  for (const type of ['__proto__', 'constructor', 'toString'])
    expect(codeOf(JSON.stringify({ type }))?.issues).toMatchObject([{ path: 'type' }])
})
