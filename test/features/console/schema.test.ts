import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../../console/requests/form.ts'
import { changedIn, fieldsOf, misfitIn, readForm, textsOf } from '../../../console/requests/schema.ts'

/** What a form reads where these texts were typed. */
const readOf = (schema: unknown, typed: Readonly<Record<string, string>>, edited?: { value: unknown }) => {
  const fields = fieldsOf(schema, 'Answer', edited)
  const texts = new Map([...textsOf(fields), ...Object.entries(typed)])
  const read = readForm(fields, texts, schema)
  return {
    fields,
    changed: changedIn(fields, texts).map(({ name }) => name),
    read: 'wrong' in read ? { wrong: Object.fromEntries(read.wrong) } : read,
  }
}

it.each([
  [undefined, 'text', 'M', 'M'],
  [{ type: 'integer' }, 'number', '4', 4],
  [{ type: 'number' }, 'number', '4.5', 4.5],
  [{ type: 'boolean' }, 'boolean', 'true', true],
  [{ type: 'boolean' }, 'boolean', 'false', false],
  [{ enum: ['S', 'M'] }, 'choice', '1', 'M'],
  [{ type: 'array' }, 'json', '[1]', [1]],
  [{ type: 'object' }, 'json', '{"a":1}', { a: 1 }],
  [null, 'json', 'null', null],
])('a question for %j has a field for %s', (schema, kind, text, value) => {
  const { fields, read } = readOf(schema, { '': text })
  expect(fields).toMatchObject([{ name: '', kind }])
  expect(read).toEqual({ value })
})

it('has a field for each member of an object', () => {
  const { fields, read } = readOf(
    {
      type: 'object',
      properties: {
        size: { enum: ['S', 'M'], title: 'Size' },
        count: { type: 'integer' },
        gift: { type: 'boolean' },
        lines: { type: 'array' },
      },
      required: ['size'],
    },
    { gift: 'true', lines: '[1]' },
  )
  expect(fields.map(({ label, kind, isRequired }) => [label, kind, isRequired])).toEqual([
    ['Size', 'choice', true],
    ['count', 'number', false],
    ['gift', 'boolean', false],
    ['lines', 'json', false],
  ])
  expect(read).toEqual({ value: { size: 'S', gift: true, lines: [1] } })
})

it('has no field for an object without members', () => {
  const { fields, read } = readOf({ type: 'object', properties: {} }, {})
  expect(fields).toEqual([])
  expect(read).toEqual({ value: {} })
})

it('is named by its title, or else as it is asked', () => {
  expect(fieldsOf({ type: 'string', title: 'City' }, 'Arguments')).toMatchObject([{ label: 'City' }])
  expect(fieldsOf({ type: 'string' }, 'Arguments')).toMatchObject([{ label: 'Arguments' }])
})

const refund = {
  type: 'object',
  required: ['amount'],
  properties: {
    amount: { type: 'number', minimum: 0, maximum: 500 },
    note: { type: 'string', minLength: 1, maxLength: 2 },
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
  [{ amount: -1 }, '`amount`: The value must be at least 0'],
  [{ amount: 501 }, '`amount`: The value must be at most 500'],
  [{ amount: 9, note: '' }, '`note`: The text has less than 1 characters'],
  [{ amount: 9, note: '👍👍👍' }, '`note`: The text has more than 2 characters'],
])('%j fits a schema, or is told why not', (value, misfit) => {
  expect(misfitIn(value, refund)).toBe(misfit)
})

it('takes every value where there is no schema, however deep', () => {
  const deep = JSON.parse(`${'['.repeat(6000)}${']'.repeat(6000)}`)
  for (const schema of [undefined, true, {}]) expect(misfitIn(deep, schema)).toBe(undefined)
})

describe('arguments that are edited', () => {
  const args = { amount: 9, size: 'M', to: 'Tom', gift: true, more: { deep: [1] } }

  it('have a field for each member, also where the schema knows none', () => {
    const { fields, changed, read } = readOf(refund, {}, { value: args })
    expect(fields.map(({ name, kind, before }) => [name, kind, before?.text])).toEqual([
      ['amount', 'number', '9'],
      ['note', 'text', ''],
      ['size', 'choice', '1'],
      ['lines', 'json', ''],
      ['to', 'text', 'Tom'],
      ['gift', 'boolean', 'true'],
      ['more', 'json', '{\n  "deep": [\n    1\n  ]\n}'],
    ])
    expect([changed, read]).toEqual([[], { value: args }])
  })

  it('change where the text does', () => {
    const typed = { amount: '7.5', gift: 'false', lines: '[{"sku":"a"}]', to: '' }
    const { changed, read } = readOf(refund, typed, { value: args })
    expect(changed).toEqual(['amount', 'lines', 'to', 'gift'])
    const { to: _, ...left } = args
    expect(read).toEqual({ value: { ...left, amount: 7.5, gift: false, lines: [{ sku: 'a' }] } })
  })

  it('say beside each field what is wrong with it', () => {
    const typed = { amount: 'ten', note: 'abc', lines: '[{}]', more: '{' }
    expect(readOf(refund, typed, { value: args }).read).toEqual({
      wrong: {
        amount: 'This is not a number',
        note: 'The text has more than 2 characters',
        lines: '`0`: The value must have `sku`',
        more: 'This is not JSON: look for a missing quote, comma or bracket',
      },
    })
    expect(readOf(refund, { amount: '' }, { value: args }).read).toEqual({
      wrong: { amount: 'Fill this in' },
    })
    const strict = { ...refund, required: ['amount', 'order'] }
    expect(readOf(strict, { amount: '8' }, { value: args }).read).toEqual({
      wrong: { '': 'The value must have `order`' },
    })
  })

  it.each<[unknown, string, string]>([
    ['nine', 'json', '"nine"'],
    [9, 'number', '9'],
    [null, 'json', 'null'],
  ])('that do not fit are shown as they are: %j', (amount, kind, text) => {
    const [field] = fieldsOf(refund, 'Arguments', { value: { amount } })
    expect(field).toMatchObject({ kind, before: { text, value: amount } })
  })

  it('hide no sign that cannot be seen', () => {
    const [, , , , to] = fieldsOf(refund, 'Arguments', { value: { to: 'abc\u202edcb' } })
    expect(to).toMatchObject({ kind: 'json', before: { text: '"abc\\u202edcb"' } })
  })

  it('have ids without spaces', () => {
    const [field] = fieldsOf({}, 'Arguments', { value: { 'a b\n': 1 } })
    expect(idOf('run/ask a', field!)).toMatch(/^[\w-]+$/)
    expect(idOf('run', { ...field!, name: 'a' })).toBe('run-a')
  })

  it('come back as they were, whatever they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const { changed, read } = readOf({}, {}, { value })
        expect([changed, read]).toEqual([[], { value }])
      }),
    )
  })

  it('are what was typed as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const { read } = readOf(
          { type: 'object', properties: { a: {} } },
          { a: JSON.stringify(value) },
          { value: {} },
        )
        expect(JSON.stringify(read)).toBe(JSON.stringify({ value: { a: value } }))
      }),
    )
  })
})
