import fc from 'fast-check'
import { Lexer } from 'marked'
import { describe, expect, it } from 'vitest'
import { type Block, finished, Growing, read } from '../../../console/markdown/blocks.ts'

/** Pieces that change what stands before or after them. */
const PIECES = [
  ...[
    'a',
    'b c',
    '*',
    '**',
    '_',
    '`',
    '```',
    '~~~',
    '\n',
    '\n\n',
    '\n\n\n',
    ' ',
    '  ',
    '    ',
    '\t',
    '#',
    '# h\n',
  ],
  ...[
    '- ',
    '* x\n',
    '1. ',
    '2) y\n',
    '> ',
    '>',
    '---',
    '===',
    '***',
    '|',
    '| a | b |\n',
    '|---|---|\n',
    '| 1 | 2 |\n',
  ],
  ...[
    '<b>',
    '</b>',
    '<div>\n',
    '</div>\n',
    '<!--',
    '-->',
    '<pre>',
    '</pre>',
    '<script>',
    '&amp;',
    '\\',
    '\\\n',
  ],
  ...[
    '[a]',
    '[a](http://x)',
    '![i](y)',
    'http://x.example ',
    'a@b.c',
    '- [ ] t\n',
    '- [x] t\n',
    '~~',
    '  \n',
    ':',
  ],
  ...[
    '```js\n',
    '\n```\n',
    '    code\n',
    '- a\n\n  b\n',
    '1. a\n   - b\n',
    '> q\n> r\n',
    'lazy\n',
    '\r\n',
    'text ',
  ],
]

const documents = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map(pieces => pieces.join(''))

const DEFINITIONS = [
  '[a]: http://one.example\n',
  "[a]: http://two.example 't'\n",
  '[a][]',
  '[b][a]',
  '![a]',
  '[b]:\n',
  '/u\n',
]

const withDefinitions = fc
  .array(fc.constantFrom(...PIECES, ...DEFINITIONS, ...DEFINITIONS), { maxLength: 40 })
  .map(pieces => pieces.join(''))

/** A document to which text was added in pieces, cut at random. */
function grown(text: string, cuts: readonly number[]): Growing {
  const document = new Growing()
  const places = cuts.map(cut => cut % (text.length + 1)).sort((one, other) => one - other)
  let last = 0
  for (const place of [...places, text.length]) {
    document.add(text.slice(last, place))
    document.rest()
    last = place
  }
  return document
}

const blocksIn = (document: Growing): readonly Block[] => [...document.closed, ...document.rest()]

const whole = (text: string) => Lexer.lex(text.replaceAll('\r', ''))

/** What is drawn of blocks: spaces between them may be cut in other places. */
const drawn = (blocks: readonly { type: string }[]) =>
  JSON.parse(JSON.stringify(blocks)).filter(({ type }: Block) => type !== 'space')

describe('a document that grows', () => {
  it('has the blocks of the whole, wherever it was cut', () => {
    const property = fc.property(documents, fc.array(fc.nat(), { maxLength: 20 }), (text, cuts) => {
      expect(drawn(blocksIn(grown(text, cuts)))).toEqual(drawn(whole(text)))
    })
    fc.assert(property, { numRuns: 3000 })
  })

  it('knows at its end what addresses mean that are defined after their use', () => {
    const property = fc.property(withDefinitions, fc.array(fc.nat(), { maxLength: 20 }), (text, cuts) => {
      expect(drawn(blocksIn(finished(text, grown(text, cuts))))).toEqual(drawn(whole(text)))
      expect(drawn(blocksIn(finished(text, read(text))))).toEqual(drawn(whole(text)))
    })
    fc.assert(property, { numRuns: 3000 })
  })

  it('never reads again what is closed', () => {
    const document = new Growing()
    document.add('# one\n\ntwo\n\nthree\n\n')
    const before = [...document.closed]
    expect(before.length).toBeGreaterThan(2)
    document.add('more\n\nand more\n\n')
    expect(document.closed.slice(0, before.length).every((block, index) => block === before[index])).toBe(
      true,
    )
  })
})

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')

describe('a hostile document', () => {
  const deep = {
    'quotes in a row': '>'.repeat(5000),
    'quotes with spaces': '> '.repeat(5000),
    'nested lists': lines(1000, depth => `${' '.repeat(depth)}- x`),
    'lists on one line': `${'- '.repeat(5000)}x`,
    'numbered lists on one line': `${'1. '.repeat(5000)}x`,
    'a long line': 'long '.repeat(200_000),
    stars: '*'.repeat(10_000),
    'stars and letters': '*a_b'.repeat(10_000),
    'far to the right': `${' '.repeat(100)}- x`,
    'long code': `\`\`\`\n${lines(10_000, () => 'code code code')}\n\`\`\``,
  }
  it.each(Object.entries(deep))('is plain text where it is too deep or too long: %s', (_, text) => {
    const blocks = blocksIn(read(`before\n\n${text}\n\nthe end`))
    expect(blocks.some(({ type }) => type === 'plain')).toBe(true)
    expect(blocks[0]).toMatchObject({ type: 'paragraph', text: 'before' })
    expect(blocks.at(-1)).toMatchObject({ type: 'paragraph', text: 'the end' })
    expect(blocks.map(({ raw }) => raw).join('')).toBe(`before\n\n${text}\n\nthe end`)
  })

  const wide = {
    underscores: '_a '.repeat(2000),
    brackets: '['.repeat(10_000),
    'brackets that end': '[a]('.repeat(10_000),
    pictures: '!['.repeat(10_000),
    backticks: '`'.repeat(10_001),
    'backticks of many lengths': lines(300, length => '`'.repeat(length)),
    pipes: '|'.repeat(10_000),
    'a wide table': `|${'a|'.repeat(5000)}\n|${'-|'.repeat(5000)}\n|b|`,
    tags: '<a '.repeat(10_000),
    comments: '<!--'.repeat(10_000),
    links: 'http://a.b '.repeat(5000),
    addresses: 'a@'.repeat(10_000),
    definitions: lines(3000, index => `[a${index}]: /u`),
    spaces: ' '.repeat(1_000_000),
    'empty lines': '\n'.repeat(100_000),
    'lines of spaces': `${' '.repeat(100)}\n`.repeat(10_000),
    returns: '\r'.repeat(100_000),
    escapes: '\\'.repeat(10_000),
    strikes: '~~a'.repeat(10_000),
    'signs of direction': 'abc\u202edcba\u202c \u2067x\u2069 '.repeat(1000),
    'a list that goes on': lines(20_000, () => '- x\n'),
    'code that never ends': `\`\`\`\n${lines(1000, depth => `${' '.repeat(depth)}- x`)}`,
  }
  it.each(Object.entries(wide))('comes to an end: %s', (_, text) => {
    const blocks = blocksIn(read(`before\n\n${text}\n\nthe end`))
    expect(blocks.map(({ raw }) => raw).join('')).toContain('the end')
  })
})
