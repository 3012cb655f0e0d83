/**
 * Markdown that grows, as blocks. Only the block that may still change is read again. What strangers make so deep or so long that
 * the lexer would take its time is plain text.
 *
 * @module
 */

import {
  getDefaults,
  Lexer,
  type Links,
  type MarkedToken,
  type Token,
  Tokenizer,
  type Tokens,
  type TokensList,
} from 'marked'

/** Text that is shown as it is. */
export interface Plain {
  readonly type: 'plain'
  readonly raw: string
}

/** A block of a document. */
export type Block = MarkedToken | Plain

/** Most characters of a block. */
const MAX_LENGTH = 65_536

/** Most columns of what a line begins with: spaces, and the signs of lists and quotes. */
const MAX_INDENT = 40

/** The same in code between fences, whose lines are often far to the right. */
const MAX_CODE_INDENT = 120

/** Most signs of quotes that a line begins with. */
const MAX_QUOTES = 16

/** Most signs of emphasis in a paragraph: the lexer looks for the end of each. */
const MAX_SIGNS = 2000

/** A line with which all of the paragraph may be read again counts as so many. */
const SIGNS_OF_START = 64

/** The line below the head of a table. */
const DELIMITER = /^(?=.*-)(?=.*[|:])[ \t>|:-]+$/

/** Most characters that are read for what stands within a line, since signs in it may be looked for up to its end. */
const MAX_PIECE = 2048

/** Most signs of emphasis in that. */
const MAX_PIECE_SIGNS = 200

/** Most characters of an item of a list, times its lines. */
const MAX_ITEM = 4_000_000

/** Cells that a table may have beyond its characters. A row that is shorter than the head is filled up. */
const MAX_EMPTY_CELLS = 64

/** What was read, and the addresses that are known after it. */
interface Lexed {
  readonly blocks: readonly Block[]
  readonly links: Links
}

/** What a line begins with. */
const BEGINNING = /^(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/

/** A document to which text is added. */
export class Growing {
  /** What cannot change any more. */
  readonly closed: Block[] = []
  /** The text after that: its whole lines. */
  #open = ''
  /** Where the last paragraph of the whole lines begins: lines without an empty one between them. */
  #paragraph = 0
  /** The signs of emphasis in that paragraph. */
  #signs = 0
  /** The last whole line of it is in a quote. */
  #isQuoted = false
  /** The last line, while it has no end. */
  #line = ''
  /** The fence of the code that the last line is in. */
  #fence = ''
  /** The last paragraph is plain text. */
  #isPlain = false
  #links: Links

  constructor(links: Links = Object.create(null)) {
    this.#links = links
  }

  /** Adds text. */
  add(text: string): void {
    const lines = (this.#line + text.replaceAll('\r', '')).split('\n')
    this.#line = lines.pop() ?? ''
    if (lines.length === 0) return
    for (const line of lines) this.#take(`${line}\n`)
    if (this.#isPlain) this.#closePlain()
    else this.#close(this.#open.length)
  }

  /** The blocks after the closed ones, as they are so far. */
  rest(): readonly Block[] {
    return this.#read().blocks
  }

  /** The addresses that it has defined so far. */
  get links(): Links {
    return this.#open === '' ? this.#links : this.#read().links
  }

  #read(): Lexed {
    if (!this.#isPlain && !this.#isTooMuch(this.#line)) return lex(this.#open + this.#line, this.#links)
    const { blocks, links } = lex(this.#open.slice(0, this.#paragraph), this.#links)
    return {
      blocks: [...blocks, { type: 'plain', raw: this.#open.slice(this.#paragraph) + this.#line }],
      links,
    }
  }

  #take(line: string): void {
    const isEmpty = line.trim() === ''
    if (this.#fence === '' && isEmpty) {
      this.#open += line
      if (this.#isPlain) this.#closePlain()
      this.#isPlain = false
      this.#paragraph = this.#open.length
      this.#signs = 0
      return
    }
    if (!this.#isPlain) {
      this.#isPlain = this.#isTooMuch(line)
      const isLong = this.#open.length + line.length > MAX_LENGTH
      if (this.#isPlain || isLong) this.#close(this.#paragraph, true)
    }
    this.#fence = fenceAfter(line, this.#fence)
    if (this.#fence === '') this.#signs += this.#signsIn(line)
    this.#isQuoted = isQuoted(line)
    this.#open += line
  }

  /** Whether the last paragraph is too much for the lexer with this line. */
  #isTooMuch(line: string): boolean {
    const isLong = this.#open.length - this.#paragraph + line.length > MAX_LENGTH
    const isFull = this.#fence === '' && this.#signs + this.#signsIn(line) > MAX_SIGNS
    return isLong || isFull || isDeep(line, this.#fence)
  }

  /** The same in a line. It may begin a table, or a quote again after a line that went on without its sign. */
  #signsIn(line: string): number {
    const isStart = DELIMITER.test(line.trimEnd()) || (isQuoted(line) && !this.#isQuoted)
    return signsIn(line) + (isStart ? SIGNS_OF_START : 0)
  }

  /** Closes all blocks up to a place, but the last one, which may go on. */
  #close(upTo: number, isWhole = false): void {
    const { blocks, links } = lex(this.#open.slice(0, upTo), this.#links)
    const last = isWhole ? blocks.length : blocks.findLastIndex(({ type }) => type !== 'space')
    let length = 0
    for (const block of blocks.slice(0, Math.max(0, last))) {
      length += block.raw.length
      this.closed.push(block)
      for (const tag of tagsIn(block)) this.#links[tag] ??= links[tag]!
    }
    if (isWhole) length = upTo
    this.#open = this.#open.slice(length)
    this.#paragraph = Math.max(0, this.#paragraph - length)
  }

  #closePlain(): void {
    this.closed.push({ type: 'plain', raw: this.#open })
    this.#open = ''
    this.#paragraph = 0
  }
}

/**
 * The document that has grown to all of its text. If it defines addresses, it is read once more, since what stands before them may
 * mean them.
 */
export function finished(text: string, document: Growing): Growing {
  const { links } = document
  return Object.keys(links).length === 0 ? document : read(text, links)
}

/** Reads a document. */
export function read(text: string, links?: Links): Growing {
  const document = new Growing(links)
  document.add(text)
  return document
}

/** The names of the addresses that a block defines. */
function tagsIn(block: Token | Block): string[] {
  if (block.type === 'def') return [block.tag]
  if (block.type === 'list') return (block as Tokens.List).items.flatMap(tagsIn)
  const isHolder = block.type === 'blockquote' || block.type === 'list_item'
  return isHolder ? (block as Tokens.Blockquote).tokens.flatMap(tagsIn) : []
}

function signsIn(line: string): number {
  return line.split(/[*_~]/).length - 1
}

/** What a line begins with, as far as it counts. */
function beginningOf(line: string): string {
  return BEGINNING.exec(line.slice(0, 2 * MAX_CODE_INDENT))?.[0] ?? ''
}

function isQuoted(line: string): boolean {
  return beginningOf(line).includes('>')
}

function isDeep(line: string, fence: string): boolean {
  const beginning = beginningOf(line)
  const columns = beginning.length + 3 * (beginning.split('\t').length - 1)
  const isFar = columns > (fence === '' ? MAX_INDENT : MAX_CODE_INDENT) && line.trim() !== ''
  return isFar || beginning.split('>').length - 1 > MAX_QUOTES
}

/** The fence that is open after a line. */
function fenceAfter(line: string, fence: string): string {
  const found = FENCE.exec(line)?.[1] ?? ''
  if (fence === '') return found
  const isEnd = found.startsWith(fence) && line.trim() === found
  return isEnd ? '' : fence
}

/** A line that begins no item of a list. */
const PLAIN_LINE = /\n(?![ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S)/g

/** Reads what stands within lines piece by piece, and no item of a list with too many lines. */
class BoundedLexer extends Lexer {
  override blockTokens(text: string, tokens: Token[] = [], isClipped?: boolean): TokensList {
    // Of an item the lexer reads one line at a time, and looks from each to the end.
    const lines = this.state.top ? 0 : (text.match(PLAIN_LINE)?.length ?? 0)
    if (lines * text.length > MAX_ITEM) tokens.push({ type: 'plain', raw: text })
    else super.blockTokens(text, tokens, isClipped)
    return tokens as TokensList
  }

  override inlineTokens(text: string, tokens: Token[] = []): Token[] {
    for (let rest = text; rest !== ''; ) {
      const end = rest.length > MAX_PIECE ? rest.slice(0, MAX_PIECE).search(/\s\S*$/) : -1
      const piece = rest.slice(0, end > 0 ? end : MAX_PIECE)
      rest = rest.slice(piece.length)
      if (signsIn(piece) > MAX_PIECE_SIGNS) tokens.push({ type: 'text', raw: piece, text: piece })
      else super.inlineTokens(piece, tokens)
    }
    return tokens
  }
}

/** Makes no table whose cells are empty for the most part. */
class TableTokenizer extends Tokenizer {
  override table(text: string): Tokens.Table | undefined {
    const [raw = '', head = '', , rows = ''] = this.rules.block.table.exec(text) ?? []
    const cells = head.split('|').length * rows.split('\n').length
    if (cells <= raw.length + MAX_EMPTY_CELLS) return super.table(text)
    const plain: Plain = { type: 'plain', raw }
    return plain as unknown as Tokens.Table
  }
}

/** Reads Markdown. What the lexer cannot read is plain text. */
function lex(text: string, links: Links): Lexed {
  const lexer = new BoundedLexer({ ...getDefaults(), tokenizer: new TableTokenizer() })
  lexer.tokens.links = Object.assign(Object.create(null), links)
  try {
    return { blocks: lexer.lex(text) as MarkedToken[], links: lexer.tokens.links }
  } catch {
    return { blocks: [{ type: 'plain', raw: text }], links }
  }
}
