import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TITLE_LENGTH, titleOf } from '../../src/runs/stored/title.ts'

describe('the title of a run', () => {
  it.each([
    ['Hello', 'Hello'],
    ['\n \t\n  Plan   a\ttrip \nto Rome', 'Plan a trip'],
    ['one\u2028two', 'one'],
    [' \n\t ', undefined],
    ['', undefined],
    [[{ type: 'image', data: 'aGk=' } as const], undefined],
    [
      [{ type: 'image', data: 'aGk=' } as const, { type: 'text', text: '\nWhat is it?' } as const],
      'What is it?',
    ],
    ['x'.repeat(120), 'x'.repeat(120)],
    ['x'.repeat(121), `${'x'.repeat(119)}…`],
    [`${'x'.repeat(118)}💡💡`, `${'x'.repeat(118)}…`],
    [`a${' '.repeat(5000)}b`, 'a…'],
  ])('of %j', (input, title) => {
    expect(titleOf(input)).toBe(title)
  })

  it('is one short line, cut at a character', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 })
    fc.assert(
      fc.property(text, input => {
        const title = titleOf(input) ?? ''
        expect(title === '').toBe(input.trim() === '')
        expect(title.length).toBeLessThanOrEqual(TITLE_LENGTH)
        expect(title).toBe(title.replace(/\s+/g, ' ').trim())
        expect(title.isWellFormed()).toBe(true)
      }),
    )
  })

  it('takes linear time', () => {
    const began = performance.now()
    titleOf(' '.repeat(2_000_000))
    titleOf(`x${' '.repeat(2_000_000)}`)
    expect(performance.now() - began).toBeLessThan(1000)
  })
})
