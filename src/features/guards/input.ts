/**
 * Lets guards look at what clients say.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { unless } from '../../base/wake.ts'
import { parseConversation, RunInputSchema } from '../../runs/input.ts'
import type { Said, Saying } from '../../runs/input-filter.ts'
import { AnswersSchema } from '../../runs/waiting/answers.ts'
import { guardFailed } from './refusal.ts'

/** Looks at what a client says. Gives nothing, where it passes, or the members that take the place of those that came. */
export type Look = (
  said: Said,
  by: Saying & { readonly signal: AbortSignal },
) => Promise<Said | undefined | void>

/** What guards let through, one after the other, in so many milliseconds. Throws what the client is told. */
export async function lookedAt(
  said: Said,
  by: Saying,
  { looks, timeoutMs }: { readonly looks: readonly Look[]; readonly timeoutMs: number },
): Promise<Said> {
  const over = new AbortController()
  const late = new ServableError('run_timeout', `The guards of the input took longer than ${timeoutMs} ms`)
  const timer = setTimeout(() => over.abort(late), timeoutMs)
  const leave = () => over.abort(by.signal?.reason)
  by.signal?.addEventListener('abort', leave)
  if (by.signal?.aborted) leave()
  const { signal } = over
  try {
    let passed = said
    for (const look of looks)
      passed = merged(passed, await unless(signal, () => look(passed, { ...by, signal })))
    return passed
  } finally {
    clearTimeout(timer)
    by.signal?.removeEventListener('abort', leave)
  }
}

/** What was said, with what takes its place. Throws `guard_failed` for what could not have come from a client. */
function merged(said: Said, instead: Said | undefined | void): Said {
  if (instead === undefined) return said
  if (!isObject(instead)) throw guardFailed('input', 'it must give an object, a refusal or nothing')
  const after = { ...said, ...defined(instead) }
  const strange = Object.keys(after).find(name => !(name in said))
  if (strange !== undefined)
    throw guardFailed('input', `it gives \`${strange.slice(0, 40)}\`, which was not said`)
  try {
    if (after.input !== said.input) v.parse(RunInputSchema, after.input)
    if (after.history !== said.history) parseConversation({ history: after.history })
    if (after.answers !== said.answers) v.parse(AnswersSchema, after.answers)
  } catch (cause) {
    throw guardFailed('input', 'it gives what no client could have said', cause)
  }
  if (idsOf(after) !== idsOf(said)) throw guardFailed('input', 'it gives answers to other requests')
  return after
}

function defined(said: Said): Said {
  return Object.fromEntries(Object.entries(said).filter(([, member]) => member !== undefined))
}

function idsOf({ answers = [] }: Said): string {
  return JSON.stringify(answers.map(({ id }) => id))
}
