import { describe, expect, it } from 'vitest'
import { textOf } from '../../src/index.ts'

describe('textOf', () => {
  it('is a text itself', () => {
    expect(textOf('hi')).toBe('hi')
  })

  it('joins the text parts by line breaks', () => {
    expect(
      textOf([
        { type: 'text', text: 'a' },
        { type: 'image', data: 'x' },
        { type: 'text', text: 'b' },
      ]),
    ).toBe('a\nb')
  })

  it('is empty where no part is text', () => {
    expect(textOf([{ type: 'file', data: 'x', mimeType: 'a/b' }])).toBe('')
    expect(textOf([])).toBe('')
  })
})
