import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keptContents } from '../../../src/adapters/frameworks/kept-contents.ts'

const SECRET = 'the-key-of-ada'
const MAX = 65_536

/** Values as packages of models have them: JSON, with texts that may be long or have a key. */
const value = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.string(),
    fc.constant(`a ${SECRET} b`),
    fc.nat(40_000).map(length => '\u0001é"x'.repeat(length)),
    fc.nat(40_000).map(length => `${'y'.repeat(length)}${SECRET}`),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null, undefined, new Uint8Array(1000)),
    fc.array(tie('any'), { maxLength: 20 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant(SECRET)), tie('any'), { maxKeys: 20 }),
  ),
})).any

describe('what is kept of a call', () => {
  it('is JSON without secrets, within the bound', () => {
    fc.assert(
      fc.property(fc.array(value), messages => {
        const { prompt } = keptContents({ prompt: { messages } }, [SECRET]) ?? {}
        const json = JSON.stringify(prompt)
        expect(json.length).toBeLessThanOrEqual(MAX)
        expect(json).not.toContain(SECRET)
      }),
    )
  })

  it('is all of what is short', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 5 }), messages => {
        const json = JSON.stringify({ messages })
        fc.pre(json.length < 10_000 && !json.includes('__proto__'))
        // As JSON, which has no -0.
        expect(JSON.stringify(keptContents({ prompt: { messages } }, [])?.prompt)).toBe(json)
      }),
    )
  })

  it('says that it is cut, and stops at what has no end', () => {
    const loop: unknown[] = []
    loop.push(loop)
    const { prompt, reply } =
      keptContents({ prompt: { messages: loop }, reply: { text: 'x'.repeat(MAX) } }, []) ?? {}
    expect(prompt).toMatchObject({ isCut: true })
    expect(reply).toMatchObject({ isCut: true })
    const throwing = {
      get messages(): never {
        throw new Error('no')
      },
    }
    expect(keptContents({ prompt: throwing }, [])).toBeUndefined()
  })
})
