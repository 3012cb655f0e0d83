import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { echo } from '../../examples/agents.ts'
import { codePoint } from '../code-point.ts'
import { pieces, run, stream } from './served.ts'

// Any UTF-16 text at all, halves of surrogate pairs and all kinds of white space among it.
const anyText = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\n', '\t', '\u00a0', '\ud83d', '\ude00', '。') }),
)

describe('echo', () => {
  it('streams word by word and keeps every space', async () => {
    const events = await stream('agents/echo', '  two  words\nand a line ')
    expect(pieces(events)).toEqual(['  ', 'two  ', 'words\n', 'and ', 'a ', 'line '])
  })

  it('joins to its input, whatever the input is', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async text => {
        expect((await echo.run(text)).text).toBe(text)
      }),
    )
  })

  it('joins to its input over HTTP', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyText.filter(text => text !== ''),
        async text => {
          expect((await run('agents/echo', text)).text).toBe(text)
          expect(pieces(await stream('agents/echo', text)).join('')).toBe(text)
        },
      ),
    )
  })

  it('says the text parts of a message and counts their words', async () => {
    const image = { type: 'image', data: 'AAAA' } as const
    const result = await run('agents/echo', [{ type: 'text', text: 'see this' }, image])
    expect(result).toMatchObject({
      text: 'see this',
      usage: { promptTokens: 2, completionTokens: 2, totalTokens: 4 },
    })
    expect((await run('agents/echo', [image])).text).toBe('')
  })

  it('gives one event a word for a long text', async () => {
    const events = await stream('agents/echo', 'word '.repeat(2000))
    expect(pieces(events)).toHaveLength(2000)
    expect(events.at(-1)).toMatchObject({ type: 'finish', usage: { completionTokens: 2000 } })
  })
})
