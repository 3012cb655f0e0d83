/**
 * The checks before a task takes a message: the input filter sees the message, and `admit` decides whether a run may start.
 *
 * @module
 */

import { hasKeys } from '../../../agents/redacted.ts'
import { isObject } from '../../../base/validation.ts'
import { isTooMany } from '../../../runs/admission.ts'
import { admitted } from '../../../runs/admit.ts'
import { checkBrake } from '../../../runs/brake.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import type { Target } from '../../../runs/target.ts'
import { checkEdits } from '../../../runs/waiting/edits.ts'
import type { Waiting } from '../../../runs/waiting/waiting.ts'
import type { Soon } from '../../../stores/store.ts'
import type { Skill } from '../cards/skills.ts'
import { partsOf, toRunInput } from '../parts.ts'
import { sessionOf } from '../tenants.ts'
import { answersIn } from './answers.ts'
import type { TaskMessage, TaskSettings } from './task-host.ts'
import { type StoredTask, skillOf } from './task-record.ts'

/** Passes the message through the input filter, before anything of it is stored. `stored` returns the skill of its task. */
export async function screened(
  sent: TaskMessage,
  { inputFilter }: Pick<TaskSettings, 'inputFilter'>,
  stored: () => Soon<Skill>,
): Promise<TaskMessage> {
  const { message, options, by } = sent
  if (inputFilter === undefined || by?.change !== undefined) return sent
  const target = sent.target ?? (await stored())
  const input = toRunInput(message)
  const filtered = await inputFilter(
    { input },
    { target, sessionId: message.contextId, identity: options.identity },
  )
  if (filtered.input === undefined || filtered.input === input) return sent
  return { ...sent, message: { ...message, parts: partsOf(filtered.input) } }
}

/** Checks arguments that the answers of a message have edited. Throws `invalid_body`. */
export async function checkAnswers(
  { message, target }: TaskMessage,
  { targetOf }: Pick<TaskSettings, 'targetOf'>,
  waiting: () => Soon<Waiting | undefined>,
): Promise<void> {
  const mayAnswer = target === undefined && message.parts.some(({ data }) => isObject(data))
  const asked = mayAnswer ? await waiting() : undefined
  if (asked !== undefined) await checkEdits(answersIn(message, []), targetOf, () => asked)
}

/** The task that a message continues, and the id of the run that continues it, where that id is already chosen. */
export interface Continuing {
  readonly task?: StoredTask | undefined
  readonly next?: string | undefined
}

/** Calls `begin` once `admit` has admitted the run of the message, which then has its own id. `isRun`: whether a run began. */
export async function admittedMessage<T>(
  message: TaskMessage,
  { settings, targetOf }: { readonly settings: TaskSettings; readonly targetOf: (skill: Skill) => Target },
  continuing: () => Soon<Continuing>,
  begin: (message: TaskMessage) => Promise<T>,
  isRun: (begun: T) => boolean,
): Promise<T> {
  const { admit } = settings
  if (admit === undefined) return begin(message)
  const { owner, client = partitionOf(owner) } = message
  const { task, next = crypto.randomUUID() } = await continuing()
  const target = message.target ?? (task && targetOf(skillOf(task)))
  // The task does not exist.
  if (target === undefined) return begin(message)
  const input = toRunInput(message.message)
  const continues = task !== undefined
  const run = { id: next, target, input, options: { identity: owner ?? undefined }, client, continues }
  const options = { ...message.options, runId: next }
  return admitted(admit, run, () => begin({ ...message, options }), isRun)
}

/**
 * Begins a message, or lets its new task wait in the line if no slot is free. A message of a task that exists does not wait, nor does one
 * with a key, which is never stored.
 */
export async function orQueued<T>(
  message: TaskMessage,
  { line, brake }: Pick<TaskSettings, 'line' | 'brake'>,
  begin: () => Promise<T>,
  open: (message: TaskMessage, target: Target, runId: string) => Soon<T>,
): Promise<T> {
  const { target, mustWait = false } = message
  if (line === undefined || target === undefined || !mayQueue({ line }, message)) return begin()
  if (mustWait || (await line.isBusy())) await checkBrake(brake, target)
  else {
    try {
      return await begin()
    } catch (error) {
      if (!isTooMany(error)) throw error
    }
  }
  const runId = crypto.randomUUID()
  const { taskId, owner, client, tenant } = message
  const { contextId = crypto.randomUUID() } = message.message
  const input = toRunInput(message.message)
  const sessionId = sessionOf({ contextId, tenant })
  await line.add({ taskId, runId, target, input, owner, client, sessionId })
  try {
    const opened = await open({ ...message, message: { ...message.message, contextId } }, target, runId)
    await line.release(runId)
    return opened
  } catch (error) {
    await line.remove(runId).catch(() => {})
    throw error
  }
}

/** Whether a new task may wait in the line. A key is never stored, so what needs one does not wait. */
export function mayQueue(
  { line }: Pick<TaskSettings, 'line'>,
  { options }: Pick<TaskMessage, 'options'>,
): boolean {
  return line !== undefined && !hasKeys(options)
}
