/**
 * Estimates the memory of values: two bytes for each character, and the engines' overhead for objects.
 *
 * @module
 */

import type { Document } from './store.ts'

/** Bytes of a character. Engines use one byte if the whole text is Latin-1, otherwise two. */
const CHARACTER = 2
const STRING = 24
const NUMBER = 16
const ARRAY = 48
const OBJECT = 56
/** Bytes of a member besides its name and a value that is not a number. */
const MEMBER = 16

/** Bytes of a document's entries in its collection and in the orders of time. */
const DOCUMENT = 640
const ENTRY = 88

/** A larger size means a value that refers to itself. */
const MOST = 2 ** 31

/** Bytes of a text. */
export function sizeOfText(text: string): number {
  return STRING + CHARACTER * text.length
}

/** Bytes of a log's entry. */
export function sizeOfEntry(data: string): number {
  return ENTRY + CHARACTER * data.length
}

/**
 * A document and its bytes. Values outside of JSON become what JSON makes of them, since an object of a class may hold hidden
 * data of any size.
 */
export function weigh<T>(document: Document<T>): { readonly document: Document<T>; readonly bytes: number } {
  const { id, partition, tags, value } = document
  const size = sizeOf(value)
  if (size === undefined) return weigh({ ...document, value: JSON.parse(JSON.stringify(value)) as T })
  let bytes = DOCUMENT + CHARACTER * (id.length + partition.length) + size
  for (const tag in tags) bytes += MEMBER + sizeOfText(tags[tag] ?? '')
  return { document, bytes }
}

/**
 * Bytes of a value. Undefined if it is or contains something that JSON cannot express: a `Date`, a `Map`, an object of a
 * class.
 */
export function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'string') return sizeOfText(value)
  // A list instead of recursion: clients may send deeply nested values.
  const rest: unknown[] = [value]
  let size = 0
  while (rest.length > 0 && size < MOST) {
    const one = rest.pop()
    const own = sizeOfOne(one, rest)
    if (own === undefined) return undefined
    size += own
  }
  return size
}

/** Bytes of a value without its content, which is added to `rest`. */
function sizeOfOne(value: unknown, rest: unknown[]): number | undefined {
  switch (typeof value) {
    case 'string':
      return sizeOfText(value)
    case 'number':
      return NUMBER
    case 'boolean':
    case 'undefined':
      return 0
    case 'object':
      return value === null ? 0 : sizeOfObject(value, rest)
    default:
      return undefined
  }
}

function sizeOfObject(value: object, rest: unknown[]): number | undefined {
  if (Array.isArray(value)) {
    for (const item of value) if (needsLook(item)) rest.push(item)
    return ARRAY + value.length * NUMBER
  }
  if (!isPlain(value)) return undefined
  let size = OBJECT
  const members = value as Record<string, unknown>
  for (const name in members) {
    const member = members[name]
    size += MEMBER + CHARACTER * name.length
    if (typeof member === 'string') size += sizeOfText(member)
    else if (needsLook(member)) rest.push(member)
  }
  return size
}

/** Whether an item has content to count. Other items fit into their slot in the array. */
function needsLook(item: unknown): boolean {
  return typeof item !== 'number' && typeof item !== 'boolean' && item !== null
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
