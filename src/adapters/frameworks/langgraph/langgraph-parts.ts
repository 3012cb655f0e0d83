/**
 * Values in parts that are named by their content, so that what two checkpoints share is stored once. A list is a list of groups of its
 * items: a checkpoint with one more message stores that message alone.
 *
 * @module
 */

import { partName, type StateParts } from '../../../agents/states.ts'
import { fieldsOf, listIn, textIn } from '../fields.ts'
import { lost } from '../waits.ts'
import { type ToMessage, toText, toValue } from './langgraph-values.ts'

/** A value: its JSON text, or the parts in which it is. */
export type KeptValue = string | { readonly part: string } | { readonly list: readonly string[] }

/** The most characters of a value that is not in parts. */
const MAX_INLINE = 256

/** The least characters of a group, and the most before another item is added. */
const MIN_GROUP = 512
const MAX_GROUP = 4096

/** Names in one part that lists parts. */
const PAGE = 16

/** Bytes of a digest. */
const DIGEST = 12

/** Makes parts, and knows those that are stored. */
export class Parts {
  readonly #known = new Set<string>()
  /** The parts made since the last call of {@link stored}. */
  fresh: Record<string, string> = {}

  /** Keeps a value. */
  async keep(value: unknown): Promise<KeptValue> {
    if (Array.isArray(value) && value.some(isObject)) return this.#list(Array.from(value, toText))
    const text = toText(value)
    return text.length <= MAX_INLINE ? text : { part: await this.#part('v', text) }
  }

  /** These parts are stored. */
  stored(names: Iterable<string>): void {
    for (const name of names) this.#known.add(name)
    this.fresh = {}
  }

  forget(): void {
    this.#known.clear()
    this.fresh = {}
  }

  async #list(items: readonly string[]): Promise<KeptValue> {
    const groups = groupsOf(items)
    if (groups.length <= 1 && (groups[0] ?? '').length <= MAX_INLINE) return groups[0] ?? '[]'
    let names = await Promise.all(groups.map(text => this.#part('g', text)))
    while (names.length > PAGE) {
      const pages = Array.from({ length: Math.ceil(names.length / PAGE) }, (_, at) =>
        JSON.stringify(names.slice(at * PAGE, (at + 1) * PAGE)),
      )
      names = await Promise.all(pages.map(text => this.#part('p', text)))
    }
    return { list: names }
  }

  async #part(kind: string, text: string): Promise<string> {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
    const name = partName(kind, base64UrlOf(new Uint8Array(digest, 0, DIGEST)), text)
    if (!this.#known.has(name)) this.fresh[name] = text
    return name
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function base64UrlOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
}

/** Groups of items. Where a group ends depends on its last item, so that a change in a list changes no groups after it. */
function groupsOf(items: readonly string[]): string[] {
  const groups: string[] = []
  let group: string[] = []
  let length = 0
  for (const item of items) {
    group.push(item)
    length += item.length
    const mayEnd = item.length >= MIN_GROUP || (item.length + item.charCodeAt(item.length >> 1)) % 3 === 0
    if (length < MAX_GROUP && !(mayEnd && length >= MIN_GROUP)) continue
    groups.push(`[${group.join(',')}]`)
    group = []
    length = 0
  }
  if (group.length > 0) groups.push(`[${group.join(',')}]`)
  return groups
}

/** The parts that a value names. */
export function namesIn(kept: KeptValue): readonly string[] {
  if (typeof kept === 'string') return []
  return 'part' in kept ? [kept.part] : kept.list
}

/** The value of what was kept. Throws `not_resumable` if a part is missing. */
export function restored(kept: unknown, parts: StateParts, toMessage: ToMessage): unknown {
  if (typeof kept === 'string') return toValue(kept, toMessage)
  const { part, list } = fieldsOf(kept)
  const name = textIn(part)
  return name === undefined
    ? itemsIn(listIn(list), parts, toMessage)
    : toValue(textOf(name, parts), toMessage)
}

function itemsIn(names: readonly unknown[], parts: StateParts, toMessage: ToMessage): unknown[] {
  return names.flatMap(name => {
    const text = textOf(String(name), parts)
    return String(name).startsWith('p')
      ? itemsIn(JSON.parse(text), parts, toMessage)
      : (toValue(text, toMessage) as unknown[])
  })
}

function textOf(name: string, parts: StateParts): string {
  const text = parts[name]
  if (text === undefined) throw lost('A part of the state of the graph is missing')
  return text
}
