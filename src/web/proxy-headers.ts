/**
 * Headers in which proxies name the client of a request. They are read from the end, which the nearest proxy wrote. The text
 * before that may be forged.
 *
 * @module
 */

import { addressIn } from './ip-address.ts'

/** Most characters of a header that are read. 32 proxies write fewer. */
const MAX_LENGTH = 4096

/** The non-empty entries of a list, from its end (RFC 9110, section 5.6.1). */
export function* entriesOf(
  field: string | null,
  findComma: CommaFinder = (text, end) => text.lastIndexOf(',', end - 1),
): Generator<string> {
  if (field === null) return
  const start = Math.max(0, field.length - MAX_LENGTH)
  let end = field.length
  while (end > start) {
    const comma = findComma(field, end, start)
    // Only a part of this entry is read.
    if (comma < start && start > 0) return
    const entry = field.slice(comma + 1, end).trim()
    if (entry !== '') yield entry
    end = comma
  }
}

/** Finds the last comma before `end`. The result is less than `start` if there is none. */
type CommaFinder = (field: string, end: number, start: number) => number

/** The address of the last `for` of a `Forwarded` header (RFC 7239). Undefined if it is not an address. */
export function forwardedFor(field: string | null): string | undefined {
  const [last = ''] = entriesOf(field, commaOutsideQuotes)
  return addressIn(nodeIn(last) ?? '')
}

/** Finds the last comma outside quotes. A quote that a client left open does not hide what the proxy has added. */
const commaOutsideQuotes: CommaFinder = (field, end, start) => {
  let isQuoted = false
  for (let at = end - 1; at >= start; at--) {
    if (field[at] === '"' && !isEscaped(field, at)) isQuoted = !isQuoted
    else if (field[at] === ',' && !isQuoted) return at
  }
  return start - 1
}

function isEscaped(field: string, at: number): boolean {
  let slashes = 0
  while (field[at - slashes - 1] === '\\') slashes++
  return slashes % 2 === 1
}

/** A parameter of an element with its terminator (RFC 7239, section 4). */
const PARAMETER = /\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))\s*(?:;|$)/

/** The `for` of an element, which may have only one. Undefined if the element is invalid. */
function nodeIn(element: string): string | undefined {
  const parameter = new RegExp(PARAMETER, 'y')
  let node: string | undefined
  while (parameter.lastIndex < element.length) {
    const found = parameter.exec(element)
    if (found === null) return undefined
    const [, name = '', quoted, token] = found
    if (name.toLowerCase() !== 'for') continue
    if (node !== undefined) return undefined
    node = quoted?.replace(/\\(.)/g, '$1') ?? token
  }
  return node
}
