/**
 * Replaces patterns in a text that comes in pieces, so that the pieces make no difference.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { compilePattern, type Finder, type Found, type Pattern } from './pattern.ts'
import { PatternError } from './pattern-syntax.ts'
import { Refusal } from './refusal.ts'

/** A pattern, and what takes its place. */
export interface MaskRule {
  /**
   * What to find, in time linear in the text. In a stream, a match must be no longer than `holdback` characters. A match that may go on is
   * held until it ends, 16,384 characters at the most. It may look around itself at one character: `(?<!\d)\d{9}(?!\d)`. The flag `g` may
   * be left out. Throws `invalid_options` for looking around at more, for `\1`, for the flags `v` and `y`, and for counts so large that it
   * would need too many states.
   */
  readonly pattern: RegExp
  /** What is told instead: a text as it is, a function of the match, or a refusal. Default: `[redacted]`. */
  readonly with?: string | Refusal | ((match: string) => string | Refusal) | undefined
}

/** What takes the place of a match by default. */
const REDACTED = '[redacted]'

/** Most characters of one match that may still go on. */
const MAX_OPEN = 16_384

interface Rule {
  readonly pattern: Pattern
  readonly with: NonNullable<MaskRule['with']>
}

interface Match extends Found {
  readonly rule: Rule
}

/** The rules that may match in one text, and what finds their matches there. */
type Finders = readonly (readonly [rule: Rule, find: Finder])[]

/** Rules in use. */
export class Masks {
  readonly rules: readonly Rule[]

  constructor(rules: readonly MaskRule[]) {
    this.rules = rules.map(({ pattern, with: by = REDACTED }) => ({ pattern: compiled(pattern), with: by }))
  }

  /** A whole text with its matches replaced. Throws a {@link Refusal}. */
  readonly mask = (text: string): string => {
    const finders = findersIn(text, this.rules)
    return finders.length === 0 ? text : new Scanner(this, 1).push(text, true, finders)
  }
}

/**
 * One text that comes in pieces. Where a match begins is decided once so many characters after it are known, so whatever the
 * pieces, what is told is the same. A break ends it: what comes then is another text, but a match over the break is replaced as far as
 * it is not told. Throws a {@link Refusal}.
 */
export class Scanner {
  readonly #rules: readonly Rule[]
  readonly #holdback: number
  /** What is not told yet, after as much of what was as patterns may look back at. */
  #text = ''
  /** Up to here it is told, and no match begins before. */
  #at = 0
  /** What was told before the break, as far as a match may begin in it. */
  #before = ''
  /** Once so many characters wait, another look at them is worth it. */
  #due: number

  constructor({ rules }: Masks, holdback: number) {
    this.#rules = rules
    this.#holdback = holdback
    this.#due = dueAfter(holdback)
  }

  /** Takes a piece in. Gives what may be told by now; with `isBreak` that is all. `known` is what finds matches in a first piece. */
  push(piece: string, isBreak = false, known?: Finders): string {
    this.#text += piece
    if (!isBreak && this.#text.length - this.#at < this.#due) return ''
    const told = this.#decide(isBreak, known ?? findersIn(this.#text, this.#rules))
    if (isBreak) this.#begin()
    else this.#forget()
    this.#due = dueAfter(Math.max(this.#text.length - this.#at, this.#holdback))
    return told
  }

  #decide(isBreak: boolean, finders: Finders): string {
    const text = this.#text
    let limit = isBreak ? text.length : text.length - this.#holdback
    let told = ''
    const overBreak = findersIn(this.#before + text, this.#before === '' ? [] : this.#rules)
    const next: (Found | undefined)[] = finders.map(([, find]) => find(this.#at))
    for (;;) {
      const match = this.#overBreak(overBreak) ?? this.#first(finders, next)
      if (match === undefined || match.start >= limit) break
      const { start, end, rule } = match
      if (!isBreak && end === text.length && end - Math.max(start, this.#at) <= MAX_OPEN) {
        limit = start
        break
      }
      told += text.slice(this.#at, Math.max(start, this.#at)) + replaced(this.#between(start, end), rule)
      this.#at = end
      this.#before = ''
    }
    const upTo = isBreak ? limit : wholeAt(text, limit)
    if (this.#at >= upTo) return told
    if (!isBreak) this.#before = ''
    told += text.slice(this.#at, upTo)
    if (!isBreak) this.#at = upTo
    return told
  }

  /** What was said between two places. Those before the break are negative. */
  #between(start: number, end: number): string {
    return start < 0 ? this.#before.slice(start) + this.#text.slice(0, end) : this.#text.slice(start, end)
  }

  /** A match that begins before the break, where it has a negative place, and goes on after it. */
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

  /** The first match of what is not told, of the first rule of several. `next` has that of each rule. */
  #first(finders: Finders, next: (Found | undefined)[]): Match | undefined {
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

  /** Another text begins. What a match was replaced in is no part of another one. */
  #begin(): void {
    const told = this.#before + this.#text.slice(this.#at)
    this.#before = told.slice(-this.#holdback)
    this.#text = ''
    this.#at = 0
  }

  #forget(): void {
    const cut = this.#at - this.#holdback
    // Each time at least as much goes as stays.
    if (cut <= this.#text.length - cut) return
    this.#text = this.#text.slice(cut)
    this.#at -= cut
  }
}

/** Characters that are worth another look: a part more than now, so that all looks take only a multiple of the text. */
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

/** The place, or the one before it: no character of two units is cut in the middle. */
function wholeAt(text: string, place: number): number {
  const unit = text.charCodeAt(place - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? place - 1 : place
}
