import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ServableError } from '../src/index.ts'
import { validate } from '../src/validation.ts'

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
    [{ size: 1, extra: 1 }, [{ path: 'extra', message: 'is not known here' }]],
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

  it('names five fields at the most in its text, and all in its issues', () => {
    const extra = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`size${index}`, 'x']))
    const many = v.object(Object.fromEntries(Object.keys(extra).map(key => [key, v.number()])))
    const thrown = (() => {
      try {
        return validate(many, extra, 'invalid_body', 'body')
      } catch (error) {
        return error
      }
    })()
    expect(thrown).toMatchObject({ issues: { length: 20 } })
    expect(String(thrown).match(/`/g)).toHaveLength(10)
  })

  it('never repeats the value', () => {
    const { message, issues } = errorOf({ size: 'sk-canary', part: 'sk-canary', any: ['sk-canary'] })
    expect(JSON.stringify({ message, issues })).not.toContain('canary')
  })
})
