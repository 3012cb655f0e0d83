/**
 * Divides the characters of a regular expression into classes. The expression treats all characters of a class alike.
 *
 * @module
 */

import { PatternError } from './pattern-syntax.ts'

/** The class of the positions before and after a text. */
export const EDGE = 0
/** The class of the second unit of a character of two units. */
export const TAIL = 1
const MAX_CLASSES = 200

/** A range of character numbers. */
type CharacterRange = readonly [first: number, last: number]

/** The classes of characters. */
export interface Alphabet {
  /** The number of classes. */
  readonly size: number
  /** The class of each unit that is a character. Undefined if a character may have two units. */
  readonly units: Uint8Array | undefined
  /** The class of each unit of a text. */
  classesIn(text: string): Uint8Array
  /** Whether the source matches the characters of this class. */
  has(source: string, of: number): boolean
  /** A character of a class. Empty for {@link EDGE}. */
  sample(of: number): string
}

/**
 * Finds the classes that these single-character sources distinguish. It asks `RegExp` which characters each of them matches.
 * Throws a {@link PatternError} if there are too many.
 */
export function alphabetOf(sources: Iterable<string>, { ignoreCase, dotAll, unicode }: RegExp): Alphabet {
  const flags = `g${ignoreCase ? 'i' : ''}${dotAll ? 's' : ''}${unicode ? 'u' : ''}`
  const names = [...new Set(sources)]
  const { members, ranges } = partition(names, flags, allCharacters(unicode))
  const units = new Uint8Array(0x1_0000)
  for (const [first, id] of ranges) units.fill(id, first)
  /** Ranges that end in characters of two units. */
  const pairs = ranges.filter((_, index) => (ranges[index + 1]?.[0] ?? 0x11_0000) > 0x1_0000)
  const classOf = (point: number): number => {
    let low = 0
    for (let high = pairs.length; high - low > 1; ) {
      const middle = (low + high) >> 1
      if (pairs[middle]![0] <= point) low = middle
      else high = middle
    }
    return pairs[low]![1]
  }

  return {
    size: members.length,
    units: unicode ? undefined : units,
    has: (source, of) => members[of]?.key[names.indexOf(source)] === '1',
    sample: of => members[of]!.sample,
    classesIn(text) {
      const found = new Uint8Array(text.length)
      for (let at = 0; at < text.length; at++) found[at] = units[text.charCodeAt(at)]!
      for (let at = 1; unicode && at < text.length; at++) {
        const point = isLow(text.charCodeAt(at)) ? text.codePointAt(at - 1)! : 0
        if (point < 0x1_0000) continue
        found[at - 1] = classOf(point)
        found[at] = TAIL
      }
      return found
    },
  }
}

/** A class: which sources match it, as a text of 0 and 1, and one of its characters. */
interface Member {
  readonly key: string
  readonly sample: string
}

/** Classes, and ranges of characters in order: the first character, and its class. */
interface Partition {
  readonly members: readonly Member[]
  readonly ranges: readonly (readonly [first: number, of: number])[]
}

function partition(names: readonly string[], flags: string, characters: Characters): Partition {
  /** The boundaries of the ranges, with the sources of these ranges. */
  const turns = new Map<number, number[]>([[0, []]])
  for (const [index, source] of names.entries()) {
    for (const [first, last] of runsOf(source, flags, characters))
      for (const edge of [first, last + 1]) turns.set(edge, [...(turns.get(edge) ?? []), index])
  }
  const members: Member[] = [EDGE, TAIL].map(() => ({ key: '', sample: '' }))
  const ids = new Map<string, number>()
  const now = names.map(() => 0)
  const ranges = [...turns]
    .sort(([a], [b]) => a - b)
    .flatMap(([first, toggled]) => {
      for (const index of toggled) now[index]! ^= 1
      if (first > 0x10_ffff) return []
      const key = now.join('')
      const id = ids.get(key) ?? members.push({ key, sample: String.fromCodePoint(first) }) - 1
      ids.set(key, id)
      return [[first, id] as const]
    })
  if (members.length > MAX_CLASSES)
    throw new PatternError('names too many kinds of characters: split it in two')
  return { members, ranges }
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Texts of consecutive characters: the number of the first one, and the text. */
type Characters = readonly (readonly [first: number, text: string])[]

/** All characters. Low surrogates come before high ones, since a high one before a low one would be one character. */
function allCharacters(unicode: boolean): Characters {
  if (!unicode) return [[0, unitsFrom(0, 0x1_0000)]]
  const pairs = new Uint16Array(0x20_0000)
  for (let at = 0; at < pairs.length; at += 2) {
    pairs[at] = 0xd800 + (at >> 11)
    pairs[at + 1] = 0xdc00 + ((at >> 1) & 0x3ff)
  }
  return [
    [0, unitsFrom(0, 0xd800)],
    [0xdc00, unitsFrom(0xdc00, 0xe000)],
    [0xd800, unitsFrom(0xd800, 0xdc00)],
    [0xe000, unitsFrom(0xe000, 0x1_0000)],
    [0x1_0000, new TextDecoder('utf-16le').decode(pairs)],
  ]
}

function unitsFrom(first: number, end: number): string {
  let text = ''
  for (let unit = first; unit < end; unit++) text += String.fromCharCode(unit)
  return text
}

/** The characters that a source matches. */
function runsOf(source: string, flags: string, characters: Characters): readonly CharacterRange[] {
  const regex = new RegExp(`(?:${source}){1,4096}`, flags)
  return characters.flatMap(([first, text]) => {
    const width = first > 0xffff ? 2 : 1
    return Array.from(text.matchAll(regex), ({ 0: { length }, index }): CharacterRange => {
      const from = first + index / width
      return [from, from + length / width - 1]
    })
  })
}
