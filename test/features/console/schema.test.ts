import { expect, it } from 'vitest'
import { type Field, fieldsOf, formValue, misfitIn } from '../../../console/requests/schema.ts'

const given = (texts: Readonly<Record<string, string>>) => (field: Field) => texts[field.name] ?? ''

it.each([
  [undefined, 'text', 'M', 'M'],
  [{ type: 'string' }, 'text', '', ''],
  [{ type: 'integer' }, 'number', '4', 4],
  [{ type: 'number' }, 'number', '4.5', 4.5],
  [{ type: 'boolean' }, 'boolean', 'true', true],
  [{ type: 'boolean' }, 'boolean', 'false', false],
  [{ enum: ['S', 'M'] }, 'choice', '1', 'M'],
  [{ type: 'array' }, 'json', '[1]', [1]],
  [{ type: 'object' }, 'json', '{"a":1}', { a: 1 }],
  [{ type: 'object', properties: { deep: { type: 'object' } } }, 'json', '{}', {}],
  [null, 'json', 'null', null],
])('a question for %j has a field for %s', (schema, kind, text, value) => {
  const fields = fieldsOf(schema, 'Answer')
  expect(fields).toMatchObject([{ name: '', kind }])
  expect(formValue(fields, given({ '': text }))).toEqual(value)
})

it('has a field for each member of an object', () => {
  const fields = fieldsOf(
    {
      type: 'object',
      properties: {
        size: { enum: ['S', 'M'], title: 'Size' },
        count: { type: 'integer' },
        gift: { type: 'boolean' },
      },
      required: ['size'],
    },
    'Answer',
  )
  expect(fields.map(({ label, kind, isRequired }) => [label, kind, isRequired])).toEqual([
    ['Size', 'choice', true],
    ['count', 'number', false],
    ['gift', 'boolean', false],
  ])
  expect(formValue(fields, given({ size: '0', gift: 'true' }))).toEqual({ size: 'S', gift: true })
})

it('has no field for an object without members', () => {
  const fields = fieldsOf({ type: 'object', properties: {} }, 'Arguments')
  expect(fields).toEqual([])
  expect(formValue(fields, given({}))).toEqual({})
})

it('is named by its title, or else as it is asked', () => {
  expect(fieldsOf({ type: 'string', title: 'City' }, 'Arguments')).toMatchObject([{ label: 'City' }])
  expect(fieldsOf({ type: 'string' }, 'Arguments')).toMatchObject([{ label: 'Arguments' }])
})

const refund = {
  type: 'object',
  required: ['amount'],
  properties: {
    amount: { type: 'number' },
    size: { enum: ['S', 'M'] },
    lines: {
      type: 'array',
      items: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } },
    },
  },
}

it.each<[unknown, string | undefined]>([
  [{ amount: 9, size: 'M', lines: [{ sku: 'a' }], more: null }, undefined],
  [{ amount: 'ninety' }, '`amount`: The value must be of the type number'],
  [{}, 'The value must have `amount`'],
  ['x', 'The value must be of the type object'],
  [{ amount: 9, size: 'L' }, '`size`: The value is none of the choices'],
  [{ amount: 9, lines: [{ sku: 'a' }, {}] }, '`lines.1`: The value must have `sku`'],
  [{ amount: 9, lines: [{ sku: 7 }] }, '`lines.0.sku`: The value must be of the type string'],
  [JSON.parse('{ "amount": 9, "__proto__": 1 }'), undefined],
])('%j fits a schema, or is told why not', (value, misfit) => {
  expect(misfitIn(value, refund)).toBe(misfit)
})

it('takes every value where there is no schema, however deep', () => {
  const deep = JSON.parse(`${'['.repeat(6000)}${']'.repeat(6000)}`)
  for (const schema of [undefined, true, {}]) expect(misfitIn(deep, schema)).toBe(undefined)
})
