/**
 * Markdown that grows, as blocks. Only the block that may still change is parsed again. Text that is nested so deep or is so long
 * that the lexer would be slow is shown as plain text.
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

/** Text that is shown unchanged. */
export interface Plain {
  readonly type: 'plain'
  readonly raw: string
}

/** A block of a document. */
export type Block = MarkedToken | Plain

/** Most characters of a block. */
const MAX_LENGTH = 65_536

/** Most columns of the beginning of a line: spaces, and the markers of lists and quotes. */
const MAX_INDENT = 40

/** The same in code between fences, whose lines are often far to the right. */
const MAX_CODE_INDENT = 120

/** Most quote markers at the beginning of a line. */
const MAX_QUOTES = 16

/** Most emphasis markers in a paragraph: the lexer searches for the end of each. */
const MAX_SIGNS = 2000

/** A line that may make the lexer parse the whole paragraph again counts as this many. */
const SIGNS_OF_START = 64

/** The line below the head of a table. */
const DELIMITER = /^(?=.*-)(?=.*[|:])[ \t>|:-]+$/

/** Most characters that are parsed at once for inline markup, since the lexer may search for markers up to their end. */
const MAX_PIECE = 2048

/** Most emphasis markers in these characters. */
const MAX_PIECE_SIGNS = 200

/** Most characters of an item of a list, times its lines. */
const MAX_ITEM = 4_000_000

/** Empty cells that a table may have beyond its characters. Rows shorter than the head are filled up. */
const MAX_EMPTY_CELLS = 64

/** Parsed blocks, and the link definitions known after them. */
interface Lexed {
  readonly blocks: readonly Block[]
  readonly links: Links
}

/** The beginning of a line. */
const BEGINNING = /^(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/

/** A document to which text is added. */
export class Growing {
  /** Blocks that cannot change any more. */
  readonly closed: Block[] = []
  /** The text after that: its whole lines. */
  #open = ''
  /** The start of the last paragraph of the whole lines: lines without an empty line between them. */
  #paragraph = 0
  /** The emphasis markers in that paragraph. */
  #signs = 0
  /** Whether its last whole line is in a quote. */
  #isQuoted = false
  /** The last line, while it is incomplete. */
  #line = ''
  /** The fence of the code block that contains the last line. */
  #fence = ''
  /** Whether the last paragraph is plain text. */
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

  /** The current blocks after the closed ones. */
  rest(): readonly Block[] {
    return this.#read().blocks
  }

  /** The link definitions so far. */
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

  /** Whether the last paragraph would be too large for the lexer with this line. */
  #isTooMuch(line: string): boolean {
    const isLong = this.#open.length - this.#paragraph + line.length > MAX_LENGTH
    const isFull = this.#fence === '' && this.#signs + this.#signsIn(line) > MAX_SIGNS
    return isLong || isFull || isDeep(line, this.#fence)
  }

  /** The emphasis markers of a line. A line may also begin a table, or continue a quote whose last line had no marker. */
  #signsIn(line: string): number {
    const isStart = DELIMITER.test(line.trimEnd()) || (isQuoted(line) && !this.#isQuoted)
    return signsIn(line) + (isStart ? SIGNS_OF_START : 0)
  }

  /** Closes all blocks up to a position, except the last one, which may continue. */
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

/** The complete document. If it has link definitions, it is parsed once more, since earlier text may refer to them. */
export function finished(text: string, document: Growing): Growing {
  const { links } = document
  return Object.keys(links).length === 0 ? document : read(text, links)
}

/** Parses a document. */
export function read(text: string, links?: Links): Growing {
  const document = new Growing(links)
  document.add(text)
  return document
}

/** The names of the link definitions in a block. */
function tagsIn(block: Token | Block): string[] {
  if (block.type === 'def') return [block.tag]
  if (block.type === 'list') return (block as Tokens.List).items.flatMap(tagsIn)
  const isHolder = block.type === 'blockquote' || block.type === 'list_item'
  return isHolder ? (block as Tokens.Blockquote).tokens.flatMap(tagsIn) : []
}

function signsIn(line: string): number {
  return line.split(/[*_~]/).length - 1
}

/** The relevant beginning of a line. */
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

/** A line that does not begin a list item. */
const PLAIN_LINE = /\n(?![ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S)/g

/** Parses inline markup piece by piece, and skips list items with too many lines. */
class BoundedLexer extends Lexer {
  override blockTokens(text: string, tokens: Token[] = [], isClipped?: boolean): TokensList {
    // The lexer reads a list item line by line, and searches from each line to the end.
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

/** Makes no table with mostly empty cells. */
class TableTokenizer extends Tokenizer {
  override table(text: string): Tokens.Table | undefined {
    const [raw = '', head = '', , rows = ''] = this.rules.block.table.exec(text) ?? []
    const cells = head.split('|').length * rows.split('\n').length
    if (cells <= raw.length + MAX_EMPTY_CELLS) return super.table(text)
    const plain: Plain = { type: 'plain', raw }
    return plain as unknown as Tokens.Table
  }
}

/** Parses Markdown. Text that the lexer cannot parse is plain text. */
function lex(text: string, links: Links): Lexed {
  const lexer = new BoundedLexer({ ...getDefaults(), tokenizer: new TableTokenizer() })
  lexer.tokens.links = Object.assign(Object.create(null), links)
  try {
    return { blocks: lexer.lex(text) as MarkedToken[], links: lexer.tokens.links }
  } catch {
    return { blocks: [{ type: 'plain', raw: text }], links }
  }
}
