import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { list, validate } from '../../src/base/validation.ts'
import { ServableError } from '../../src/index.ts'

const schema = v.strictObject({
  size: v.number(),
  name: v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
  part: v.optional(v.union([v.literal('*'), v.strictObject({ deep: v.object({ leaf: v.string() }) })])),
  any: v.optional(v.union([v.string(), v.number()], 'must be text or a number')),
})

function errorOf(value: unknown): ServableError {
  try {
    validate(schema, value, 'invalid_options', 'settings')
  } catch (error) {
    if (error instanceof ServableError) return error
  }
  throw new Error('nothing was thrown')
}

describe('validate', () => {
  it('gives the checked value', () => {
    const trimmed = v.pipe(v.string(), v.trim())
    expect(validate(trimmed, ' a ', 'invalid_body', 'body')).toBe('a')
  })

  it.each<[unknown, object[]]>([
    [{}, [{ path: 'size', message: 'is missing' }]],
    [{ size: 'x' }, [{ path: 'size', message: 'must be number' }]],
    [{ size: 1, name: '' }, [{ path: 'name', message: 'must not be empty' }]],
    [{ size: 1, extra: 1 }, [{ path: 'extra', message: 'is not a known field' }]],
    [{ size: 1, any: true }, [{ path: 'any', message: 'must be text or a number' }]],
    [{ size: 1, part: { deep: {} } }, [{ path: 'part.deep.leaf', message: 'is missing' }]],
    [null, [{ path: '', message: 'must be Object' }]],
  ])('says of %j what to mend', (value, issues) => {
    expect(errorOf(value).issues).toEqual(issues)
  })

  it('names the fields, or the whole, in its text', () => {
    expect(errorOf({ size: 'x', extra: 1 }).message).toMatch(/`size`.*; `extra`/)
    expect(errorOf(5).message).toContain('`settings`')
    expect(errorOf(5).code).toBe('invalid_options')
  })

  it.each([
    ['invalid_body', 5],
    ['invalid_options', 20],
  ] as const)('names five fields at the most in its text, and with %s %d in its issues', (code, count) => {
    const extra = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`size${index}`, 'x']))
    const many = v.object(Object.fromEntries(Object.keys(extra).map(key => [key, v.number()])))
    const thrown = (() => {
      try {
        return validate(many, extra, code, 'body')
      } catch (error) {
        return error
      }
    })()
    expect(thrown).toMatchObject({ issues: { length: count } })
    expect(String(thrown).match(/`/g)).toHaveLength(10)
  })

  it('tells of a value with many values inside the first mistake alone', () => {
    const values = v.object({ a: v.array(v.number()), b: v.number() })
    const errorFor = (length: number) => {
      try {
        return validate(values, { a: Array(length).fill('x') }, 'invalid_body', 'body')
      } catch (error) {
        return error
      }
    }
    expect(errorFor(3)).toMatchObject({ issues: { length: 4 } })
    expect(errorFor(100_000)).toMatchObject({ issues: [{ path: 'a.0', message: 'must be number' }] })
  })

  it('never repeats the value', () => {
    const { message, issues } = errorOf({ size: 'sk-canary', part: 'sk-canary', any: ['sk-canary'] })
    expect(JSON.stringify({ message, issues })).not.toContain('canary')
  })
})

describe('list', () => {
  const few = v.union([v.string(), list(v.number(), 3)], 'must be text or a list')
  const messageFor = (value: unknown) => {
    try {
      return validate(few, value, 'invalid_body', 'body')
    } catch (error) {
      return (error as ServableError).message
    }
  }

  it('takes as many items as it may have', () => {
    expect(messageFor([1, 2, 3])).toEqual([1, 2, 3])
  })

  it.each([
    [{}, '`body` must be text or a list'],
    [[1, 'x'], '`1` must be number'],
    [[1, 2, 3, 4], '`body` must have at most 3 entries'],
  ])('says of %j what to mend, inside of a union too', (value, message) => {
    expect(messageFor(value)).toBe(message)
  })

  it('looks at no item of an array that is too long', () => {
    const read: unknown[] = []
    const many = new Proxy(Array(5000).fill(0), {
      get(target, name) {
        read.push(name)
        return Reflect.get(target, name)
      },
    })
    expect(messageFor(many)).toContain('3 entries')
    expect(new Set(read.filter(name => /^\d/.test(String(name))))).toEqual(new Set())
  })
})
