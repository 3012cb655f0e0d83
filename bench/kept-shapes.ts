/** The three runs whose storage is measured, here and at others: what they are asked, say and call. */

export type KeptShape = 'pieces' | 'steps' | 'tools'

export const PIECES = 8110
export const STEPS = 77
export const ROUNDS = 5
const MEGABYTE = 1_000_000

/** Text that no database compresses to nothing. */
function words(length: number, seed: number): string {
  let text = ''
  for (let at = seed; text.length < length; at = (at * 48_271) % 2_147_483_647) text += `${at.toString(36)} `
  return text.slice(0, length)
}

export const INPUT: string = words(200, 77)
/** One of the pieces of a text, counted from 1. */
export const piece = (index: number): string => words(19, index)
/** The result of a tool, by its round, counted from 1. */
export const page = (round: number): string => words(MEGABYTE, round)
/** What step `index` gives, counted from 0. */
export const stepped = (input: unknown, index: number): string =>
  index === 0 ? String(input).slice(0, 50) : `${String(input).slice(0, 40)} ${index}`

/** Each shape in words, with the bytes of its input, text, tool arguments and results. */
export const SHAPES: Readonly<Record<KeptShape, { readonly what: string; readonly bytes: number }>> = {
  pieces: { what: `an answer in ${PIECES} pieces`, bytes: INPUT.length + PIECES * 19 },
  steps: { what: `a workflow of ${STEPS} steps`, bytes: INPUT.length },
  tools: { what: `${ROUNDS} tool calls of 1 MB`, bytes: INPUT.length + ROUNDS * (MEGABYTE + 10) },
}

/** A figure with commas. Nothing where nobody counts. */
export const shown = (value: number | undefined): string =>
  value === undefined ? '' : Math.round(value).toLocaleString('en-US')
