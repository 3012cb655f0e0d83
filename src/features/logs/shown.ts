/**
 * Formats values for people: on one line, with limited length, and without terminal control characters.
 *
 * @module
 */

import type { Usage } from '../../agents/contract.ts'

/** Characters that control a terminal, hide text or change its order: controls, formats, and the two line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Marks the end of text that is cut. */
const CUT = '…'

/** Text on one line. Unsafe characters are shown as `\u{1b}`. Longer text is cut to `max` characters. */
export function shown(text: string, max: number = Number.POSITIVE_INFINITY): string {
  const cut = text.length > max ? text.slice(0, max - 1) + CUT : text
  return cut.replace(UNSAFE, escapeOf)
}

/** The same with its lines and tabs kept. */
export function shownLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, unsafe => (unsafe === '\n' || unsafe === '\t' ? unsafe : escapeOf(unsafe)))
}

function escapeOf(unsafe: string): string {
  return `\\u{${unsafe.codePointAt(0)?.toString(16)}}`
}

/** JSON whose text has no unsafe characters: they are escaped, so its value stays the same. Lines stay lines. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, unsafe =>
    unsafe === '\n'
      ? unsafe
      : Array.from({ length: unsafe.length }, (_, index) => unitOf(unsafe.charCodeAt(index))).join(''),
  )
}

function unitOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

/** Milliseconds for people: `12 ms`, `1.2 s`, `2 min 5 s`. */
export function shownMs(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Tokens for people, in and out: `120→45 tokens`. */
export function shownUsage({ promptTokens, completionTokens }: Usage): string {
  return `${promptTokens}→${completionTokens} tokens`
}

/** USD for people: `$1.25`, and with more digits if it is less. */
export function shownCost(usd: number): string {
  if (usd === 0 || usd >= 0.995) return `$${usd.toFixed(2)}`
  return `$${Number(usd.toPrecision(2)).toFixed(Math.min(8, 1 - Math.floor(Math.log10(usd))))}`
}

/** A number of things: `1 tool call`, `2 tool calls`. */
export function shownCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** The known numbers of a run: `1.2 s  120→45 tokens  $0.0012  2 tool calls`. */
export function shownNumbers({ durationMs, usage, cost, toolCalls }: ShownNumbers): string {
  const parts = [
    durationMs !== undefined && shownMs(durationMs),
    usage !== undefined && shownUsage(usage),
    cost !== undefined && shownCost(cost),
    toolCalls !== undefined && toolCalls > 0 && shownCount(toolCalls, 'tool call'),
  ]
  // Values of other code may be text.
  return shown(parts.filter(part => part !== false).join('  '))
}

/** The numbers of a run. */
export interface ShownNumbers {
  readonly durationMs?: number | undefined
  readonly usage?: Usage | undefined
  readonly cost?: number | undefined
  readonly toolCalls?: number | undefined
}

/** SGR codes of ECMA-48. */
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** A color or a weight of text. */
export type Style = keyof typeof CODES

/** Styles text. */
export type Paint = (style: Style, text: string) => string

/** Makes a {@link Paint}. Without colors it leaves text as it is. */
export function painter(isColored: boolean): Paint {
  return (style, text) => (isColored ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text)
}
