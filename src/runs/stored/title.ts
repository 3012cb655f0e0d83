/**
 * The title of a run: the beginning of its input, by which people tell runs apart.
 *
 * @module
 */

import type { RunInput } from '../../agents/contract.ts'
import { textOf } from '../../agents/input.ts'
import { type HostSettings, keepsInputOf, type StartRequest } from './host.ts'

/** The most characters of a title. */
export const TITLE_LENGTH = 120

/** The most characters of a line that are read for a title. Spaces are no part of it, so it reads more than a title has. */
const MAX_LINE = 500

/** The first line of an input that is not empty, as a title. Undefined for an input without text. */
export function titleOf(input: RunInput): string | undefined {
  const text = textOf(input)
  const from = text.search(/\S/)
  if (from === -1) return undefined
  const read = text.slice(from, from + MAX_LINE)
  const [line = ''] = read.split(/[\r\n\u2028\u2029]/, 1)
  const title = line.replace(/\s+/g, ' ').trim()
  const isCut = title.length > TITLE_LENGTH || (line === read && text.length > from + MAX_LINE)
  return isCut ? `${wholeBeginning(title, TITLE_LENGTH - 1).trimEnd()}…` : title
}

/** The most characters of an input, and of an output, that are kept to find the run by them. */
export const SEARCHED_LENGTH = 2048

/** The beginning of an input's text. */
export function beginningOf(input: RunInput): string {
  return wholeBeginning(textOf(input).trimStart(), SEARCHED_LENGTH)
}

/** The first characters of a text. The cut leaves no half of a character. */
export function wholeBeginning(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

/** A run that may get a title. */
type Titled = Pick<StartRequest, 'owner' | 'keepsInput'> & { readonly input?: RunInput | undefined }

/** Whether the input of a run is stored as long as its record. */
export function keepsInput({ owner, keepsInput }: Titled, settings: KeptInputs): boolean {
  return keepsInput === true || keepsInputOf(settings, owner)
}

/**
 * The title of a run that begins. Undefined if its input is not kept, since a title is a piece of it. A run that goes on has the input of
 * the run which it continues, and so its title.
 */
export function titleFor(run: Titled, settings: KeptInputs): string | undefined {
  return run.input === undefined || !keepsInput(run, settings) ? undefined : titleOf(run.input)
}

type KeptInputs = Pick<HostSettings, 'keepInput'>
