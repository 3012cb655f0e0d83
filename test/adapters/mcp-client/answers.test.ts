import { describe, expect, it } from 'vitest'
import { resultOf } from '../../../src/adapters/mcp-client/answers.ts'

describe('resultOf', () => {
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
  it.each([
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'a\nb',
    ],
    [{ content: [] }, ''],
    [{}, ''],
    [undefined, ''],
    [{ content: 'odd' }, ''],
    [{ content: [{ type: 'text', text: 'see' }, image] }, [{ type: 'text', text: 'see' }, image]],
    [{ content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }, { a: 1 }],
    [{ content: [null] }, [null]],
  ])('gives of %j: %j', (answer, expected) => {
    expect(resultOf(answer)).toEqual(expected)
  })

  it('throws what a tool says of its failure, within bounds', () => {
    const failing = (content: unknown) => () => resultOf({ isError: true, content })
    expect(failing([{ type: 'text', text: 'no such city' }])).toThrow('no such city')
    expect(failing([])).toThrow('The tool failed')
    expect(failing(undefined)).toThrow(expect.objectContaining({ code: 'tool_failed' }))
    try {
      failing([{ type: 'text', text: 'x'.repeat(1e6) }])()
    } catch (error) {
      expect((error as Error).message).toHaveLength(2000)
    }
  })
})
