/**
 * Runs the guards of client input.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { unless } from '../../base/wake.ts'
import { parseConversation, RunInputSchema } from '../../runs/input.ts'
import type { ClientInput, InputSource } from '../../runs/input-filter.ts'
import { AnswersSchema } from '../../runs/waiting/answers.ts'
import { guardFailed } from './refusal.ts'

/** Checks client input. Returns nothing to accept it, or the members to replace. */
export type InputGuard = (
  clientInput: ClientInput,
  by: InputSource & { readonly signal: AbortSignal },
) => Promise<ClientInput | undefined | void>

/**
 * Runs the guards one after another, within so many milliseconds. Returns the accepted input. Throws the error for the client.
 */
export async function checkInput(
  clientInput: ClientInput,
  by: InputSource,
  { guards, timeoutMs }: { readonly guards: readonly InputGuard[]; readonly timeoutMs: number },
): Promise<ClientInput> {
  const over = new AbortController()
  const late = new ServableError('run_timeout', `The guards of the input took longer than ${timeoutMs} ms`)
  const timer = setTimeout(() => over.abort(late), timeoutMs)
  const leave = () => over.abort(by.signal?.reason)
  by.signal?.addEventListener('abort', leave)
  if (by.signal?.aborted) leave()
  const { signal } = over
  try {
    let passed = clientInput
    for (const guard of guards)
      passed = merged(passed, await unless(signal, () => guard(passed, { ...by, signal })))
    return passed
  } finally {
    clearTimeout(timer)
    by.signal?.removeEventListener('abort', leave)
  }
}

/** The input with the replaced members. Throws `guard_failed` for values that could not have come from a client. */
function merged(clientInput: ClientInput, instead: ClientInput | undefined | void): ClientInput {
  if (instead === undefined) return clientInput
  if (!isObject(instead)) throw guardFailed('input', 'it must give an object, a refusal or nothing')
  const after = { ...clientInput, ...defined(instead) }
  const strange = Object.keys(after).find(name => !(name in clientInput))
  if (strange !== undefined)
    throw guardFailed('input', `it gives \`${strange.slice(0, 40)}\`, which was not said`)
  try {
    if (after.input !== clientInput.input) v.parse(RunInputSchema, after.input)
    if (after.history !== clientInput.history) parseConversation({ history: after.history })
    if (after.answers !== clientInput.answers) v.parse(AnswersSchema, after.answers)
  } catch (cause) {
    throw guardFailed('input', 'it gives what no client could have said', cause)
  }
  if (idsOf(after) !== idsOf(clientInput)) throw guardFailed('input', 'it gives answers to other requests')
  return after
}

function defined(clientInput: ClientInput): ClientInput {
  return Object.fromEntries(Object.entries(clientInput).filter(([, member]) => member !== undefined))
}

function idsOf({ answers = [] }: ClientInput): string {
  return JSON.stringify(answers.map(({ id }) => id))
}
