/**
 * Cuts what a model was sent and replied, so that a log can keep it. Apart from `agents/model-calls.ts`, since only adapters need it.
 *
 * @module
 */

import type { ModelCallContents } from '../../agents/model-calls.ts'
import { redact, withoutKeyText } from '../../base/errors.ts'

/** Most characters of the JSON of a prompt and of a reply, and most of its levels. */
const MAX_LENGTH = 65_536
const MAX_DEPTH = 50

/** Most characters of a text that is searched for secrets, and of a secret at its end. What comes after is cut in any case. */
const MAX_TEXT = 2 * MAX_LENGTH
const MAX_SECRET = 16_384

/** Contents that can be kept: plain JSON without secrets, cut. Undefined for what is no JSON. */
export function keptContents(
  { prompt, reply }: ModelCallContents,
  secrets: readonly string[],
): ModelCallContents | undefined {
  try {
    return {
      prompt: prompt && new Cutting(secrets).of(prompt),
      reply: reply && new Cutting(secrets).of(reply),
    }
  } catch {
    return undefined
  }
}

/** Copies one value as JSON, until it is full. */
class Cutting {
  readonly #secrets: readonly string[]
  /** Room for the mark and the braces around all. */
  #left = MAX_LENGTH - 64
  #isCut = false

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  of<T extends object>(value: T): T & { readonly isCut?: true } {
    const kept = this.#members(value, 0) as T
    return this.#isCut ? { ...kept, isCut: true } : kept
  }

  /** Takes room; after the first that does not fit, nothing does. */
  #take(length: number): boolean {
    this.#isCut ||= length > this.#left
    if (!this.#isCut) this.#left -= length
    return !this.#isCut
  }

  #clean(text: string): string {
    return withoutKeyText(redact(text, this.#secrets))
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'object' && value !== null) return this.#object(value, depth)
    const isJson = value === null || typeof value === 'number' || typeof value === 'boolean'
    return isJson && this.#take(String(value).length + 1) ? value : undefined
  }

  #text(whole: string): string {
    const isWhole = whole.length <= MAX_TEXT
    const start = this.#clean(whole.slice(0, MAX_TEXT))
    // A secret at the end would be found only in part.
    const text = isWhole ? start : start.slice(0, -MAX_SECRET)
    if (isWhole && this.#take(JSON.stringify(text).length)) return text
    this.#isCut = true
    // A character has at most six in JSON.
    return text.slice(0, Math.max(0, Math.floor((this.#left - 2) / 6)))
  }

  #object(value: object, depth: number): unknown {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      return this.#text(`[${value.byteLength} bytes]`)
    if (depth > MAX_DEPTH || !this.#take(2)) {
      this.#isCut = true
      return undefined
    }
    return Array.isArray(value) ? this.#list(value, depth) : this.#members(jsonOf(value), depth)
  }

  #list(items: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = []
    for (const item of items) {
      if (!this.#take(1)) break
      kept.push(this.#value(item, depth + 1) ?? null)
    }
    return kept
  }

  #members(of: object, depth: number): object {
    const kept: [string, unknown][] = []
    for (const [name, member] of Object.entries(of)) {
      if (member === undefined || typeof member === 'function') continue
      const key = this.#clean(name)
      if (!this.#take(JSON.stringify(key).length + 2)) break
      kept.push([key, this.#value(member, depth + 1)])
    }
    return Object.fromEntries(kept)
  }
}

/** The members that JSON has of an object. */
function jsonOf(value: object): object {
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON !== 'function') return value
  const json: unknown = toJSON.call(value)
  return typeof json === 'object' && json !== null ? json : { value: json }
}
