/**
 * Replaces patterns in a text that arrives in pieces. The result does not depend on the pieces.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { compilePattern, type Finder, type FoundMatch, type Pattern } from './pattern.ts'
import { PatternError } from './pattern-syntax.ts'
import { Refusal } from './refusal.ts'

/** A pattern and its replacement. */
export interface MaskRule {
  /**
   * What to find, in time linear in the text. In a stream, a match must be no longer than `holdback` characters. A match that may
   * continue is held until it ends, at most 16,384 characters. Lookaround may check one character: `(?<!\d)\d{9}(?!\d)`. The flag
   * `g` may be left out. Throws `invalid_options` for lookaround of more characters, for `\1`, for the flags `v` and `y`, and for
   * counts so large that it would need too many states.
   */
  readonly pattern: RegExp
  /** The replacement: a text, a function of the match, or a refusal. Default: `[redacted]`. */
  readonly with?: string | Refusal | ((match: string) => string | Refusal) | undefined
}

/** The default replacement. */
const REDACTED = '[redacted]'

/** Most characters of one match that may still continue. */
const MAX_OPEN = 16_384

interface Rule {
  readonly pattern: Pattern
  readonly with: NonNullable<MaskRule['with']>
}

interface Match extends FoundMatch {
  readonly rule: Rule
}

/** The rules that may match in a text, and their finders. */
type Finders = readonly (readonly [rule: Rule, find: Finder])[]

/** Compiled rules. */
export class Masks {
  readonly rules: readonly Rule[]

  constructor(rules: readonly MaskRule[]) {
    this.rules = rules.map(({ pattern, with: by = REDACTED }) => ({ pattern: compiled(pattern), with: by }))
  }

  /** Returns a whole text with its matches replaced. Throws a {@link Refusal}. */
  readonly mask = (text: string): string => {
    const finders = findersIn(text, this.rules)
    return finders.length === 0 ? text : new Scanner(this, 1).push(text, true, finders)
  }
}

/**
 * Masks one text that arrives in pieces. The start of a match is decided once `holdback` characters after it are known, so the
 * output does not depend on the pieces. A break ends the text. The next text is separate, but a match across the break is
 * replaced in the part that is not emitted yet. Throws a {@link Refusal}.
 */
export class Scanner {
  readonly #rules: readonly Rule[]
  readonly #holdback: number
  /** The text that is not emitted yet, preceded by as much emitted text as patterns may look back at. */
  #text = ''
  /** Everything before this position is emitted, and no later match begins before it. */
  #at = 0
  /** The text before the break in which a match may begin. */
  #before = ''
  /** The number of characters at which the text is searched again. */
  #due: number

  constructor({ rules }: Masks, holdback: number) {
    this.#rules = rules
    this.#holdback = holdback
    this.#due = dueAfter(holdback)
  }

  /**
   * Adds a piece. Returns the text that may be emitted now; with `isBreak`, all of it. `known` are the finders of a first piece.
   */
  push(piece: string, isBreak = false, known?: Finders): string {
    this.#text += piece
    if (!isBreak && this.#text.length - this.#at < this.#due) return ''
    const output = this.#decide(isBreak, known ?? findersIn(this.#text, this.#rules))
    if (isBreak) this.#begin()
    else this.#forget()
    this.#due = dueAfter(Math.max(this.#text.length - this.#at, this.#holdback))
    return output
  }

  #decide(isBreak: boolean, finders: Finders): string {
    const text = this.#text
    let limit = isBreak ? text.length : text.length - this.#holdback
    let output = ''
    const overBreak = findersIn(this.#before + text, this.#before === '' ? [] : this.#rules)
    const next: (FoundMatch | undefined)[] = finders.map(([, find]) => find(this.#at))
    for (;;) {
      const match = this.#overBreak(overBreak) ?? this.#first(finders, next)
      if (match === undefined || match.start >= limit) break
      const { start, end, rule } = match
      if (!isBreak && end === text.length && end - Math.max(start, this.#at) <= MAX_OPEN) {
        limit = start
        break
      }
      output += text.slice(this.#at, Math.max(start, this.#at)) + replaced(this.#between(start, end), rule)
      this.#at = end
      this.#before = ''
    }
    const upTo = isBreak ? limit : wholeAt(text, limit)
    if (this.#at >= upTo) return output
    if (!isBreak) this.#before = ''
    output += text.slice(this.#at, upTo)
    if (!isBreak) this.#at = upTo
    return output
  }

  /** The text between two positions. Positions before the break are negative. */
  #between(start: number, end: number): string {
    return start < 0 ? this.#before.slice(start) + this.#text.slice(0, end) : this.#text.slice(start, end)
  }

  /** A match that begins before the break, at a negative position, and continues after it. */
  #overBreak(finders: Finders): Match | undefined {
    const { length } = this.#before
    for (const [rule, find] of finders) {
      for (let from = 0; from < length; ) {
        const match = find(from)
        if (match === undefined || match.start >= length) break
        if (match.end > length) return { start: match.start - length, end: match.end - length, rule }
        from = match.start + 1
      }
    }
    return undefined
  }

  /**
   * The first match in the text that is not emitted, of the first rule if there are several. `next` has the next match of each
   * rule.
   */
  #first(finders: Finders, next: (FoundMatch | undefined)[]): Match | undefined {
    let first = -1
    for (let index = 0; index < next.length; index++) {
      if (next[index] === undefined) continue
      if (next[index]!.start < this.#at) next[index] = finders[index]![1](this.#at)
      const { start } = next[index] ?? { start: Number.POSITIVE_INFINITY }
      if (start < (next[first]?.start ?? Number.POSITIVE_INFINITY)) first = index
    }
    const found = next[first]
    return found && { start: found.start, end: found.end, rule: finders[first]![0] }
  }

  /** Begins another text. A replaced match cannot be part of another match. */
  #begin(): void {
    const text = this.#before + this.#text.slice(this.#at)
    this.#before = text.slice(-this.#holdback)
    this.#text = ''
    this.#at = 0
  }

  #forget(): void {
    const cut = this.#at - this.#holdback
    // Cuts only if at least as much is removed as stays.
    if (cut <= this.#text.length - cut) return
    this.#text = this.#text.slice(cut)
    this.#at -= cut
  }
}

/**
 * The number of characters for the next search: a fraction more than now, so that all searches together take time linear in the
 * text.
 */
function dueAfter(open: number): number {
  return open + (open >> 2) + 1
}

function findersIn(text: string, rules: readonly Rule[]): Finders {
  return rules.flatMap(rule => {
    const find = rule.pattern.in(text)
    return find === undefined ? [] : [[rule, find] as const]
  })
}

function compiled(pattern: RegExp): Pattern {
  try {
    return compilePattern(pattern)
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause
    const shown = pattern.source.length > 100 ? `${pattern.source.slice(0, 100)}…` : pattern.source
    throw new ServableError('invalid_options', `The pattern \`/${shown}/\` ${cause.message}`, { cause })
  }
}

function replaced(found: string, rule: Rule): string {
  const by = typeof rule.with === 'function' ? rule.with(found) : rule.with
  if (by instanceof Refusal) throw by
  if (typeof by === 'string') return by
  throw new TypeError('`with` must give a text, or refuse')
}

/** The position, or the one before it: no character of two units is split. */
function wholeAt(text: string, position: number): number {
  const unit = text.charCodeAt(position - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? position - 1 : position
}
