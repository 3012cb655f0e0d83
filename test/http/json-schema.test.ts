import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toJsonSchema } from '../../src/http/json-schema.ts'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

describe('JSON Schema', () => {
  it.each([
    ['itself', city],
    ['valibot', v.object({ city: v.string() })],
    ['zod', z.object({ city: z.string() })],
    [
      'a schema that is a function',
      Object.assign(() => {}, { '~standard': { jsonSchema: { input: () => city } } }),
    ],
  ])('is made of %s', (_, schema) => {
    expect(toJsonSchema(schema)).toMatchObject(city)
  })

  it('leaves out what it cannot say', () => {
    const schema = v.object({ city: v.string(), own: v.custom<string>(() => true) })
    expect(toJsonSchema(schema)).toMatchObject({ properties: { city: { type: 'string' } } })
  })

  const circular: Record<string, unknown> = {}
  circular.self = circular
  it.each([
    undefined,
    null,
    7,
    'text',
    [],
    new Map(),
    new (class Schema {})(),
    () => {},
    circular,
    { '~standard': { vendor: 'unknown' } },
    { '~standard': { jsonSchema: { input: () => 'nonsense' } } },
    {
      '~standard': {
        jsonSchema: {
          input() {
            throw new Error('not this one')
          },
        },
      },
    },
    z.object({ big: z.bigint() }),
  ])('is not made of %o', schema => {
    expect(toJsonSchema(schema)).toBeNull()
  })
})
