/** What hostile Markdown costs: nodes that are made, and characters that the lexer reads for them. */
import fc from 'fast-check'
import { Lexer, Tokenizer } from 'marked'
import type { ComponentChild, VNode } from 'preact'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Block, finished, Growing, read } from '../../../console/markdown/blocks.ts'
import { drawn } from '../../../console/markdown/elements.ts'

/** Characters that were given to the parts of the lexer that may read all of what they are given. */
let steps = 0

beforeEach(() => {
  steps = 0
  const { blockTokens, inlineTokens } = Lexer.prototype
  vi.spyOn(Lexer.prototype, 'blockTokens').mockImplementation(function (this: Lexer, text, ...more) {
    steps += text.length
    return blockTokens.call(this, text, ...more) as never
  })
  vi.spyOn(Lexer.prototype, 'inlineTokens').mockImplementation(function (this: Lexer, text, ...more) {
    steps += text.length
    return inlineTokens.call(this, text, ...more)
  })
  for (const name of ['text', 'inlineText'] as const) {
    const original = Tokenizer.prototype[name]
    vi.spyOn(Tokenizer.prototype, name).mockImplementation(function (this: Tokenizer, text) {
      steps += text.length
      return original.call(this, text) as never
    })
  }
  const { blockquote, list, table, url } = Tokenizer.prototype
  vi.spyOn(Tokenizer.prototype, 'blockquote').mockImplementation(function (this: Tokenizer, text) {
    steps += this.rules.block.blockquote.exec(text)?.[0].length ?? 0
    return blockquote.call(this, text)
  })
  vi.spyOn(Tokenizer.prototype, 'list').mockImplementation(function (this: Tokenizer, text) {
    const found = list.call(this, text)
    steps += found?.raw.length ?? 0
    return found
  })
  vi.spyOn(Tokenizer.prototype, 'table').mockImplementation(function (this: Tokenizer, text) {
    steps += this.rules.block.table.exec(text)?.[0].length ?? 0
    return table.call(this, text)
  })
  vi.spyOn(Tokenizer.prototype, 'url').mockImplementation(function (this: Tokenizer, text) {
    steps += this.rules.inline.url.exec(text)?.[0].length ?? 0
    return url.call(this, text)
  })
})
afterEach(() => vi.restoreAllMocks())

const blocksIn = (document: Growing): readonly Block[] => [...document.closed, ...document.rest()]

/** All nodes of what is drawn. */
function nodesIn(shown: ComponentChild): number {
  if (Array.isArray(shown)) return shown.reduce((sum: number, each) => sum + nodesIn(each), 0)
  if (typeof shown !== 'object' || shown === null) return 1
  return 1 + nodesIn((shown as VNode).props.children as ComponentChild)
}

/** Reads a document as a chat shows it at its end, and checks what that took. */
function expectBounded(text: string): readonly Block[] {
  steps = 0
  const blocks = blocksIn(finished(text, read(text)))
  expect(steps).toBeLessThan(4096 * (text.length + 1000))
  expect(blocks.reduce((sum, block) => sum + nodesIn(drawn(block)), 0)).toBeLessThan(2 * text.length + 200)
  return blocks
}

const LENGTH = 20_000
const times = (text: string, length = LENGTH) => text.repeat(Math.ceil(length / text.length)).slice(0, length)

/** A table of so many columns and rows, whose rows have one cell. */
const bomb = (count: number, before = '') =>
  `${before}|${'a|'.repeat(count)}\n${before}|${'-|'.repeat(count)}\n${`${before}|a\n`.repeat(count)}`

describe('hostile Markdown costs no more than its length allows', () => {
  it.each<[string, string]>([
    ['a table of 7 KB that would have a million cells', bomb(1000)],
    ['a table of 28 KB', bomb(4000)],
    ['such a table in a quote', bomb(1000, '> ')],
    ['such a table in a list', `- x\n${bomb(1000, '  ')}`],
    ['many small ones', times(`${bomb(30)}\n`)],
    ['a table that is none', times('"# h\n|-|-|\n&(')],
    ['tables of one column', times('|a|\n|-|\n')],
    ['exclamation marks', '!'.repeat(60_000)],
    ['exclamation marks and letters', times('!a')],
    ['addresses that end nowhere', times('http://a.b(')],
    ['quotes that go on without a sign', times('> a\nb\n')],
    ['a list in a quote that goes on without a sign', times('> - a\nb\n')],
    ['items of many lines', times('- a\n--><?')],
    ['an item of many lines', `- [ ] t\n${times('\\\n')}`],
    ['an item with many empty lines', `- ${times(' \n    [a]')}`],
    ['quotes in a last line', `> q\n${times('> ')}`],
    ...[
      ...[
        '*',
        '_a ',
        '**a ',
        '*_a ',
        '~a ',
        '~~a',
        '`',
        '`a',
        '[',
        '![',
        '[a](',
        '[a][',
        '](b)',
        '[]',
        '<',
        '<a ',
      ],
      ...[
        '<a b="',
        '<!--',
        '<?',
        '<![CDATA[',
        '<http:',
        '<a@',
        'a@',
        'a@a.',
        'www.',
        'http://',
        '&',
        '&#',
        '\\',
      ],
      ...[
        '> ',
        '> a\n',
        '>\n',
        '- ',
        '- a\n',
        '1. a\n',
        '- > a\n',
        '> - a\n',
        '- [ ] a\n',
        '|',
        'a|',
        '---\n',
      ],
      ...[
        'a\n=\n',
        '[a]: b\n',
        '[a]: <',
        '```\n',
        '~~~a\n',
        '<div>\n',
        '<pre>\n\n',
        '    a\n',
        'a  \n',
        '😀',
      ],
    ].map((piece): [string, string] => [`${JSON.stringify(piece)}, many times`, times(piece)]),
  ])('%s', (_, text) => {
    const blocks = expectBounded(text)
    expect(
      blocks
        .map(({ raw }) => raw)
        .join('')
        .trim(),
    ).toBe(text.trim())
    // Once more, with more after it and before it.
    expectBounded(`before\n\n${text}\n\nafter`)
  })

  // The lexer copies all that follows, with no call that could be counted.
  it.each(['> a\nb\n', '> - a\nb\n', '"# h\n|-|-|\n&('])('%j, many times, is plain text', piece => {
    expect(blocksIn(read(times(piece))).map(({ type }) => type)).toContain('plain')
  })

  const FRAGMENTS = [
    ...[
      'a',
      '*',
      '_',
      '`',
      '```',
      '~~',
      '\n',
      '\n\n',
      ' ',
      '    ',
      '\t',
      '#',
      '- ',
      '1. ',
      '> ',
      '---',
      '===',
    ],
    ...['|', '|a|b|\n', '|-|-|\n', '<b>', '<div>\n', '<!--', '-->', '<pre>', '&amp;', '\\', '[', '](', '[a]'],
    ...['[a](http://x)', '![', 'http://', 'www.', 'a@b.c', '(', ')', '- [ ] t\n', '  \n', ':', '[a]: ', '"'],
    ...['!', '<a ', '<?', '😀', '- a\n', '> q\n', 'lazy\n', '\n  ', '\n    ', '\n- > '],
  ]

  it('whatever is repeated', () => {
    const some = fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 5 })
    const property = fc.property(some, some, (first, pieces) => {
      expectBounded(first.join('') + times(pieces.join(''), 12_000))
    })
    fc.assert(property, { numRuns: 200 })
  })

  it('also while it comes', () => {
    const text = `before\n\n${bomb(300)}\nafter`
    const document = new Growing()
    for (let at = 0; at < text.length; at += 500) {
      document.add(text.slice(at, at + 500))
      const nodes = blocksIn(document).reduce((sum, block) => sum + nodesIn(drawn(block)), 0)
      expect(nodes).toBeLessThan(2 * text.length + 200)
    }
    expect(blocksIn(document).map(({ type }) => type)).toContain('plain')
  })
})

describe('what is not hostile', () => {
  const typesIn = (text: string) => blocksIn(read(text)).map(({ type }) => type)

  it('stays a table, also where rows are shorter than the head', () => {
    expect(typesIn(bomb(8))).toEqual(['table'])
    const rows = Array.from({ length: 500 }, (_, at) => `| ${at} | one | two |\n`).join('')
    expect(typesIn(`| a | b | c | d |\n|---|---|---|---|\n${rows}`)).toEqual(['table'])
  })

  it('stays a list, however many items it has', () => {
    const items = Array.from({ length: 1000 }, (_, at) => `- item ${at}\n  - with one below\n`).join('')
    expect(typesIn(items)).toEqual(['list'])
  })

  it('has its emphasis in a long paragraph', () => {
    const [block] = blocksIn(read('some words and **a few that are bold** and '.repeat(200)))
    const { tokens = [] } = block as { tokens?: readonly { type: string }[] }
    expect(tokens.filter(({ type }) => type === 'strong').length).toBeGreaterThan(190)
  })
})
