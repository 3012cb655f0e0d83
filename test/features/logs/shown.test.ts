import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  painter,
  safeJson,
  shown,
  shownCost,
  shownLines,
  shownMs,
  shownNumbers,
} from '../../../src/features/logs/shown.ts'
import { codePoint } from '../../code-point.ts'

const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/u

describe('text for people', () => {
  it('never has a character that steers a terminal, whatever was said', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.nat(50), (text, max) => {
        expect(shown(text)).not.toMatch(UNSAFE)
        expect(shown(text, max + 1)).not.toMatch(UNSAFE)
        expect(shownLines(text).replace(/[\n\t]/g, '')).not.toMatch(UNSAFE)
      }),
    )
  })

  it('shows what it replaces, and what it cuts', () => {
    expect(shown('a\u001b[31mb\nc\u202e')).toBe('a\\u{1b}[31mb\\u{a}c\\u{202e}')
    expect(shown('abcdef', 4)).toBe('abc…')
    expect(shownLines('a\r\nb\tc\rd')).toBe('a\nb\tc\\u{d}d')
  })
})

describe('JSON for a terminal', () => {
  it('has the same value, and no character that steers a terminal', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: codePoint }), value => {
        const json = safeJson(JSON.stringify(value))
        expect(json).not.toMatch(UNSAFE)
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})

it.each([
  [0, '0 ms'],
  [12.4, '12 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 0 s'],
  [125_000, '2 min 5 s'],
])('shows %d ms as %s', (ms, text) => {
  expect(shownMs(ms)).toBe(text)
})

it.each([
  [0, '$0.00'],
  [12.5, '$12.50'],
  [0.0012, '$0.0012'],
  [0.0125, '$0.013'],
  [0.000_000_001, '$0.00000000'],
  [0.99, '$0.99'],
  [0.999, '$1.00'],
])('shows %d USD as %s', (usd, text) => {
  expect(shownCost(usd)).toBe(text)
})

it('shows the numbers that are known', () => {
  const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
  expect(shownNumbers({})).toBe('')
  expect(shownNumbers({ toolCalls: 0, usage })).toBe('1→2 tokens')
  expect(shownNumbers({ durationMs: 3, usage, cost: 1, toolCalls: 1 })).toBe(
    '3 ms  1→2 tokens  $1.00  1 tool call',
  )
})

it('styles text only where that is wanted', () => {
  expect(painter(false)('red', 'a')).toBe('a')
  expect(painter(true)('red', 'a')).toBe('\u001b[31ma\u001b[0m')
})
