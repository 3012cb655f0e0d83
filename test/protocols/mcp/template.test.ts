import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { templateOf } from '../../../src/protocols/mcp/template.ts'

const name = fc.stringMatching(/^[a-z]\w{0,8}$/)
const literal = fc.stringMatching(/^[a-z/.:-]{1,8}$/)

describe('a template', () => {
  it.each([
    ['notes://all', 'notes://all', {}],
    ['notes://{id}', 'notes://7', { id: '7' }],
    ['notes://{id}', 'notes://a%20b', { id: 'a b' }],
    ['notes://{user}/{id}', 'notes://ada/7', { user: 'ada', id: '7' }],
    ['notes://{id}/data', 'notes://7/data', { id: '7' }],
    ['notes://{a}-{b}', 'notes://x-y-z', { a: 'x', b: 'y-z' }],
  ])('%s fits %s', (template, uri, values) => {
    expect(templateOf(template).match(uri)).toEqual(values)
  })

  it.each([
    ['notes://all', 'notes://al'],
    ['notes://{id}', 'notes://'],
    ['notes://{id}', 'notes://a/b'],
    ['notes://{id}', 'notes://..'],
    ['notes://{id}', 'notes://.'],
    ['notes://{id}', 'notes://%2e%2e'],
    ['notes://{id}', 'notes://a%2fb'],
    ['notes://{id}', 'notes://a%5Cb'],
    ['notes://{id}', 'notes://a%00'],
    ['notes://{id}', 'notes://%'],
    ['notes://{id}', 'notes://%c0%af'],
    ['notes://{id}', 'notes://a?b'],
    ['notes://{id}', `notes://${'x'.repeat(2000)}`],
    ['notes://{id}/data', 'notes://7'],
    ['notes://{id}', 'other://7'],
  ])('%s does not fit %s', (template, uri) => {
    expect(templateOf(template).match(uri)).toBeUndefined()
  })

  it.each([
    '',
    'notes',
    '{id}',
    'a://{id',
    'a://id}',
    'a://{}',
    'a://{a}{b}',
    'a://{a}/{a}',
    'a://{+a}',
    'a://{{a}}',
    'a:// b',
  ])('is refused as %j', template => {
    expect(() => templateOf(template)).toThrow(/must be an address/)
  })

  it('gives back the values that an address was made with', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
        literal,
        fc.array(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 4, maxLength: 4 }),
        (names, between, values) => {
          const plain = values.map(value => value.replace(/[^\w é]/gu, '_'))
          fc.pre(plain.every(value => !value.includes(between)))
          const template = `x://${names.map(each => `{${each}}`).join(between)}`
          const uri = `x://${names.map((_, at) => encodeURIComponent(plain[at]!)).join(between)}`
          fc.pre(plain.every(value => !encodeURIComponent(value).includes(between)))
          expect(templateOf(template).match(uri)).toEqual(
            Object.fromEntries(names.map((each, at) => [each, plain[at]])),
          )
        },
      ),
    )
  })

  it('never gives a value with a path in it, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'f', 'F', 'e', '5', 'c', 'a', '\\') }),
        text => {
          const { id } = templateOf('x://{id}').match(`x://${text}`) ?? { id: 'ok' }
          expect(id).not.toMatch(/[/\\]|^\.\.?$/)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
