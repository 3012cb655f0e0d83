import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServableError } from '../../../../src/index.ts'
import { parseAnswersPayload } from '../../../../src/protocols/event-socket/gateway/payload.ts'

const answer = fc.oneof(
  fc.record({ id: fc.uuid(), value: fc.jsonValue() }),
  fc.record({ id: fc.uuid(), result: fc.jsonValue() }),
  fc.record({ id: fc.uuid(), decision: fc.constantFrom('approve', 'deny'), reason: fc.string() }),
)

describe('the payload of `run.answers`', () => {
  it('is given as it is', () => {
    const payload = fc.record({ runId: fc.uuid(), answers: fc.array(answer, { minLength: 1, maxLength: 5 }) })
    fc.assert(
      fc.property(payload, given => {
        expect(parseAnswersPayload(given)).toEqual(given)
      }),
    )
  })

  it('is refused with a code, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything(), given => {
        try {
          parseAnswersPayload(given)
        } catch (error) {
          if (!(error instanceof ServableError)) throw error
          expect(error.code).toBe('invalid_body')
        }
      }),
    )
  })

  it('has values and results that are attachments as base64', () => {
    const bytes = new Uint8Array([0, 1, 2])
    const answers = [
      { id: 'a', value: bytes },
      { id: 'b', result: Buffer.from(bytes) },
    ]
    expect(parseAnswersPayload({ runId: 'r', answers }).answers).toEqual([
      { id: 'a', value: 'AAEC' },
      { id: 'b', result: 'AAEC' },
    ])
  })

  it.each([
    ['no answers', {}],
    ['none of them', { answers: [] }],
    ['too many', { answers: Array.from({ length: 101 }, (_, index) => ({ id: `${index}`, value: 1 })) }],
    ['arguments', { answers: [{ id: 'a', decision: 'approve', args: {} }] }],
    ['two kinds at once', { answers: [{ id: 'a', decision: 'approve', value: 1 }] }],
    ['no kind', { answers: [{ id: 'a' }] }],
    ['no id', { answers: [{ value: 1 }] }],
  ])('has %s: it is refused', (_, payload) => {
    expect(() => parseAnswersPayload({ runId: 'r', ...payload })).toThrow(
      expect.objectContaining({ code: 'invalid_body' }),
    )
  })
})
