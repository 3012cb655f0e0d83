import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact } from '../../src/base/errors.ts'
import { SecretCutter, secretsIn, withoutSecrets } from '../../src/web/secrets.ts'

const cutterOf = (...secrets: readonly string[]) => new SecretCutter(() => secrets)

/** Texts of few letters, which look much like each other. */
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 60 })
const secretLists = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 }), {
  maxLength: 4,
})

describe('SecretCutter', () => {
  it('cuts the same out of pieces as out of the whole text', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 12 }), secretLists, (pieces, secrets) => {
        const cutter = cutterOf(...secrets)
        const told = pieces.map(piece => cutter.push(piece)).join('') + cutter.push('', true)
        expect(told).toBe(redact(pieces.join(''), secrets))
      }),
      { numRuns: 1000 },
    )
  })

  it('holds nothing back but the beginning of a secret', () => {
    fc.assert(
      fc.property(texts, secretLists, (text, secrets) => {
        const told = cutterOf(...secrets).push(text)
        const isHeld = (count: number) =>
          redact(text.slice(0, text.length - count), secrets) === told &&
          (count === 0 || secrets.some(secret => secret.startsWith(text.slice(-count))))
        expect([...text, ''].some((_, count) => isHeld(count))).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it('tells all but what may begin a secret, and that once it does not', () => {
    const cutter = cutterOf('token-1234567')
    expect(cutter.push('a toke')).toBe('a ')
    expect(cutter.push('n-12')).toBe('')
    expect(cutter.push('tok')).toBe('token-12')
    expect(cutter.push('yo')).toBe('tokyo')
  })

  it('knows a secret that is sent in the middle of a text', () => {
    let secrets = ['token-1']
    const cutter = new SecretCutter(() => secrets)
    expect(cutter.push('token-1, to')).toBe('[redacted], ')
    secrets = [...secrets, 'to-day']
    expect(cutter.push('-day, token-')).toBe('[redacted], ')
    expect(cutter.push('', true)).toBe('token-')
  })
})

describe('secretsIn', () => {
  it('knows credentials by their name or their form, and neither schemes, words nor short values', () => {
    const headers = { authorization: 'Bearer abcdefg', 'x-tenant': 'research', 'x-key': '12345' }
    expect(secretsIn(Object.entries(headers))).toEqual(['Bearer abcdefg', 'abcdefg'])
  })
})

describe('withoutSecrets', () => {
  it('gives the same value where it has none', () => {
    const value = { a: ['x', 1, null], b: undefined }
    expect(withoutSecrets(value, ['token-1234567'])).toBe(value)
    expect(withoutSecrets(undefined, ['token-1234567'])).toBeUndefined()
  })
})
