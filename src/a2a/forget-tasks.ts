import type { Forgetting } from '../core/built-in.ts'
import { isServableError } from '../errors.ts'
import type { ListedTask, TaskHost } from './task-host.ts'

/** Tasks that are looked at together. */
const AT_ONCE = 100

/** Deletes the tasks of an owner, or of a session. */
export async function forgetTasks(host: TaskHost, what: Forgetting): Promise<boolean> {
  const { owner, session } = what
  if (session !== undefined && session.kind !== 'agent') return false
  const request = { contextId: session?.id, pageSize: AT_ONCE, includeArtifacts: false, historyLength: 0 }
  let hasFound = false
  // A task whose status changes is at the beginning of the list again: so all is looked at until nothing is left.
  for (let isDone = false; !isDone; ) {
    isDone = true
    let pageToken: string | undefined
    do {
      const page = await host.page(owner, { ...request, pageToken })
      for (const task of page.tasks) if (await forgetTask(host, task, what)) isDone = false
      pageToken = page.nextPageToken || undefined
    } while (pageToken !== undefined)
    hasFound ||= !isDone
  }
  return hasFound
}

/** Whether there is one task less. */
async function forgetTask(
  host: TaskHost,
  { id, agent, turns, isAtWork }: ListedTask,
  { owner, session, cancels }: Forgetting,
): Promise<boolean> {
  if (session !== undefined && session.name !== agent) return false
  // A task that has begun meanwhile is another one's; what goes on from before is none any more.
  if (session !== undefined && isAtWork && turns === 1) return false
  try {
    if (isAtWork && (cancels || session !== undefined))
      await unless('task_not_cancelable', host.cancel(id, owner))
    await host.delete(id, owner)
  } catch (error) {
    if (!isServableError(error) || error.code !== 'task_not_found') throw error
  }
  return true
}

async function unless(code: string, work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isServableError(error) || error.code !== code) throw error
  }
}
