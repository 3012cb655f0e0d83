/**
 * Finds secrets that were sent to another service, and removes them from its answers.
 *
 * @module
 */

import { redact, spellings } from '../base/errors.ts'

/** A value, with the name under which it is sent. */
export type NamedValue = readonly [name: string, value: string]

/** Shorter values may be common words or numbers. */
export const MIN_SECRET = 6

const SECRET_NAME =
  /auth|key|token|secret|pass|pwd|cookie|cred|sign|sig$|session|dsn|(database|connection).*url/i

/** The values of a URL that may be secret: its query, and the segments of its path. */
export function partsOf({ searchParams, pathname }: URL): NamedValue[] {
  return [...searchParams, ...pathname.split('/').map((segment): NamedValue => ['', segment])]
}

/** The secrets among values, with the parts of them that may appear alone. */
export function secretsIn(named: readonly NamedValue[]): string[] {
  const values = named.filter(isSecret).flatMap(([, value]) => [value, ...piecesOf(value)])
  return [...new Set(values)].filter(({ length }) => length >= MIN_SECRET)
}

/**
 * Whether a value is a secret, by its name or its form. Regions, paths and flags are not secrets, so that messages about them
 * stay readable.
 */
function isSecret([name, value]: NamedValue): boolean {
  return SECRET_NAME.test(name) || isTokenLike(value)
}

/** Whether the text is long, has no spaces, and mixes letters and digits. */
export function isTokenLike(text: string): boolean {
  return text.length >= 16 && /^[\w.+=~-]+$/.test(text) && /[A-Za-z]/.test(text) && /\d/.test(text)
}

/**
 * The parts of a value that may appear alone: the credentials after `Bearer`, the values of cookies, the password of an
 * address.
 */
function piecesOf(value: string): string[] {
  const [, credentials] = /^\w+ +(\S.*)$/.exec(value) ?? []
  const cookies = value.split(/;\s*/).map(pair => pair.slice(pair.indexOf('=') + 1))
  const password = URL.canParse(value) ? new URL(value).password : ''
  return [credentials ?? '', ...cookies, password, decoded(password)]
}

/** The text without percent-encoding, if it is valid: a URL accepts any `%` in a password. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The forms that secrets may have in a text: as they are, in a URL, and in JSON, where some writers escape more. */
function formsOf(secrets: readonly string[]): string[] {
  const forms = secrets.flatMap(secret => {
    const json = JSON.stringify(secret).slice(1, -1)
    const strict = json.replace(/\\"|[&'+<>`]/g, found => `\\u00${hexOf(found.charCodeAt(found.length - 1))}`)
    return [...spellings(secret), json, json.replaceAll('/', '\\/'), strict]
  })
  return [...new Set(forms)]
}

function hexOf(code: number): string {
  return code.toString(16).toUpperCase()
}

/**
 * Removes secrets from a JSON value: from its texts, even if these are JSON, and from its names. Returns the same value if it has
 * none.
 */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value
  const text = JSON.stringify(value) ?? ''
  const found = formsOf(secrets).filter(form => text.includes(JSON.stringify(form).slice(1, -1)))
  return found.length === 0 ? value : (walk(value, found) as T)
}

function walk(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redact(value, secrets)
  if (Array.isArray(value)) return value.map(each => walk(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([name, each]) => [redact(name, secrets), walk(each, secrets)]))
}

/** A form of a secret to search for, one character after the other (Knuth, Morris and Pratt). */
interface Needle {
  readonly form: string
  /** By number of matching characters: how many still match if the next one does not. */
  readonly back: readonly number[]
  /** The number of characters that match now. */
  count: number
}

function needleOf(form: string): Needle {
  const needle: Needle & { readonly back: number[] } = { form, back: [0], count: 0 }
  for (let at = 1; at < form.length; at++) {
    step(needle, form[at]!)
    needle.back.push(needle.count)
  }
  needle.count = 0
  return needle
}

/** Adds a character. Returns whether it completes the form. */
function step(needle: Needle, character: string): boolean {
  const { form, back } = needle
  while (needle.count > 0 && form[needle.count] !== character) needle.count = back[needle.count - 1]!
  if (form[needle.count] === character) needle.count++
  return needle.count === form.length
}

/** A range of the text to redact. */
interface FoundSecret {
  readonly start: number
  readonly end: number
}

/**
 * Removes secrets from one text that arrives in pieces, wherever the pieces are cut. It holds back only what may be the beginning
 * of a secret, in time linear in the text.
 */
export class SecretCutter {
  readonly #secrets: () => readonly string[]
  #known: readonly string[] = []
  #needles: readonly Needle[] = []
  /** The text that is not emitted yet. */
  #text = ''
  /** The number of its characters that were searched. */
  #seen = 0
  /** The first secret in it. It may be the beginning of a longer one. */
  #found: FoundSecret | undefined

  /** `secrets` returns another array when the secrets change. */
  constructor(secrets: () => readonly string[]) {
    this.#secrets = secrets
  }

  /** Adds a piece. Returns the text that may be emitted now; at the end, all of it. */
  push(piece: string, isEnd = false): string {
    this.#know(this.#secrets())
    this.#text += piece
    let output = ''
    for (;;) {
      const isOver = this.#seen === this.#text.length
      if (!isOver && this.#found === undefined) {
        this.#look()
        continue
      }
      const open = isOver && isEnd ? 0 : Math.max(0, ...this.#needles.map(({ count }) => count))
      const { start, end } = this.#found ?? { start: this.#seen, end: this.#seen }
      if (start < this.#seen - open) {
        output += `${this.#text.slice(0, start)}[redacted]`
        this.#begin(this.#text.slice(end))
      } else if (isOver) return output + this.#emit(Math.min(start, this.#seen - open))
      else this.#look()
    }
  }

  #know(secrets: readonly string[]): void {
    if (secrets === this.#known) return
    this.#known = secrets
    this.#needles = formsOf(secrets).map(needleOf)
    this.#begin(this.#text)
  }

  #begin(text: string): void {
    this.#text = text
    this.#seen = 0
    this.#found = undefined
    for (const needle of this.#needles) needle.count = 0
  }

  /** Searches one more character. If several secrets begin at one position, the longest counts. */
  #look(): void {
    const character = this.#text[this.#seen++]!
    for (const needle of this.#needles) {
      if (!step(needle, character)) continue
      const start = this.#seen - needle.form.length
      if (start <= (this.#found?.start ?? start)) this.#found = { start, end: this.#seen }
      needle.count = needle.back.at(-1)!
    }
  }

  #emit(upTo: number): string {
    const output = this.#text.slice(0, upTo)
    this.#text = this.#text.slice(upTo)
    this.#seen -= upTo
    this.#found &&= { start: this.#found.start - upTo, end: this.#found.end - upTo }
    return output
  }
}
