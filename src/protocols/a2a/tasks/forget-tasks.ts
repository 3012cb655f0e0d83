import { isServableError } from '../../../base/errors.ts'
import type { Forgetting } from '../../../core/built-in.ts'
import { contextsOf } from '../tenants.ts'
import type { ListedTask, TaskHost, TaskViewer } from './task-host.ts'

/** Tasks that are looked at together. */
const AT_ONCE = 100

/** The tasks of an owner that are looked at: all, or those of a context. */
interface Search extends TaskViewer {
  readonly contextId?: string
}

/** Deletes the tasks of an owner, or of a session. */
export async function forgetTasks(host: TaskHost, what: Forgetting): Promise<boolean> {
  const { owner, session } = what
  const searches: readonly Search[] =
    session === undefined ? [{ owner }] : contextsOf(session.id).map(context => ({ owner, ...context }))
  let hasFound = false
  for (const search of searches) if (await forgetFound(host, search, what)) hasFound = true
  return hasFound
}

async function forgetFound(host: TaskHost, search: Search, what: Forgetting): Promise<boolean> {
  const { contextId, ...viewer } = search
  const isOfAll = what.session === undefined
  const request = { contextId, pageSize: AT_ONCE, includeArtifacts: false, historyLength: 0, isOfAll }
  let hasFound = false
  // A task whose status changes is at the beginning of the list again: so all is looked at until nothing is left.
  for (let isDone = false; !isDone; ) {
    isDone = true
    let pageToken: string | undefined
    do {
      const page = await host.page(viewer, { ...request, pageToken })
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
  { id, kind = 'agent', agent, tenant, turns, isAtWork }: ListedTask,
  { owner, session, cancels }: Forgetting,
): Promise<boolean> {
  if (session !== undefined && (session.kind !== kind || session.name !== agent)) return false
  // A task that has begun meanwhile is another one's; what goes on from before is none any more.
  if (session !== undefined && isAtWork && turns === 1) return false
  const viewer = { owner, tenant }
  try {
    if (isAtWork && (cancels || session !== undefined))
      await unless('task_not_cancelable', host.cancel(id, viewer))
    await host.delete(id, viewer)
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
