/**
 * Replaces patterns in a text that comes in pieces, so that the pieces make no difference.
 *
 * @module
 */

import { Refusal } from './refusal.ts'

/** A pattern, and what takes its place. */
export interface MaskRule {
  /**
   * What to find. A match, with what it looks ahead at, must be no longer than `holdback` characters. A match that may go on is held
   * until it ends, 16,384 characters at the most. The flag `g` may be left out. The flag `y` is refused.
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
  readonly regex: RegExp
  readonly with: NonNullable<MaskRule['with']>
}

interface Match {
  readonly start: number
  readonly end: number
  readonly found: string
  readonly rule: Rule
}

/** Rules in use. */
export class Masks {
  readonly rules: readonly Rule[]

  constructor(rules: readonly MaskRule[]) {
    this.rules = rules.map(({ pattern, with: by = REDACTED }) => {
      const flags = pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`
      return { regex: new RegExp(pattern.source, flags), with: by }
    })
  }

  /** A whole text with its matches replaced. Throws a {@link Refusal}. */
  readonly mask = (text: string): string => {
    const scanner = new Scanner(this, 1)
    return scanner.push(text, true)
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

  /** Takes a piece in. Gives what may be told by now; with `isBreak` that is all. */
  push(piece: string, isBreak = false): string {
    this.#text += piece
    if (!isBreak && this.#text.length - this.#at < this.#due) return ''
    const told = this.#decide(isBreak)
    if (isBreak) this.#begin()
    else this.#forget()
    this.#due = dueAfter(Math.max(this.#text.length - this.#at, this.#holdback))
    return told
  }

  #decide(isBreak: boolean): string {
    const text = this.#text
    let limit = isBreak ? text.length : text.length - this.#holdback
    let told = ''
    const next = new Map<Rule, Match | undefined>()
    for (;;) {
      const match = this.#overBreak() ?? this.#first(next)
      if (match === undefined || match.start >= limit) break
      const { start, end, found } = match
      if (!isBreak && end === text.length && end - Math.max(start, this.#at) <= MAX_OPEN) {
        limit = start
        break
      }
      told += text.slice(this.#at, Math.max(start, this.#at)) + replaced(found, match.rule)
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

  /** A match that begins before the break, and goes on after it. */
  #overBreak(): Match | undefined {
    const before = this.#before
    if (before === '') return undefined
    for (const rule of this.#rules) {
      for (let from = 0; from < before.length; ) {
        const match = matchOf(rule, before + this.#text, from)
        if (match === undefined || match.start >= before.length) break
        const { start, end } = match
        if (end > before.length) return { ...match, start: start - before.length, end: end - before.length }
        from = start + 1
      }
    }
    return undefined
  }

  /** The first match of what is not told, of the first rule of several. What is known of each rule is in `next`. */
  #first(next: Map<Rule, Match | undefined>): Match | undefined {
    let first: Match | undefined
    for (const rule of this.#rules) {
      const known = next.get(rule)
      const isKnown = next.has(rule) && (known === undefined || known.start >= this.#at)
      const match = isKnown ? known : matchOf(rule, this.#text, this.#at)
      next.set(rule, match)
      if (match !== undefined && (first === undefined || match.start < first.start)) first = match
    }
    return first
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

/** The first match from there on that is not empty. */
function matchOf(rule: Rule, text: string, from: number): Match | undefined {
  const { regex } = rule
  regex.lastIndex = from
  for (let match = regex.exec(text); match !== null; match = regex.exec(text)) {
    const [found] = match
    if (found !== '') return { start: match.index, end: match.index + found.length, found, rule }
    regex.lastIndex = match.index + 1
  }
  return undefined
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
