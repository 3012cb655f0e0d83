import { isServableError } from '../../../base/errors.ts'
import type { SomeRuns } from '../../../core/built-in.ts'
import type { Forgetting } from '../../../core/plugin.ts'
import { contextsOf } from '../tenants.ts'
import type { ListedTask, TaskHost, TaskViewer } from './task-host.ts'

/** Tasks of one page of the search. */
const AT_ONCE = 100

/** The tasks to search: all of an owner, or those of one context. */
interface Search extends TaskViewer {
  readonly contextId?: string
}

/** The data to delete: with `runIds`, only tasks whose last turn is one of these runs, of which none is at work. */
type Forgotten = Forgetting & Partial<SomeRuns>

/** Deletes the tasks of an owner, of a session, or of some of its runs. Returns whether it found any. */
export async function forgetTasks(host: TaskHost, what: Forgotten): Promise<boolean> {
  const { owner, session } = what
  const searches: readonly Search[] =
    session === undefined ? [{ owner }] : contextsOf(session.id).map(context => ({ owner, ...context }))
  let hasFound = false
  for (const search of searches) if (await forgetFound(host, search, what)) hasFound = true
  return hasFound
}

async function forgetFound(host: TaskHost, search: Search, what: Forgotten): Promise<boolean> {
  const { contextId, ...viewer } = search
  const isOfAll = what.session === undefined
  const request = { contextId, pageSize: AT_ONCE, includeArtifacts: false, historyLength: 0, isOfAll }
  let hasFound = false
  // A task whose status changes moves to the beginning of the list. So the search repeats until it deletes nothing.
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

/** Deletes a task. Returns false if the task is not meant. */
async function forgetTask(
  host: TaskHost,
  { id, kind = 'agent', agent, tenant, turns, runId = '', isAtWork }: ListedTask,
  { owner, session, cancels, runIds }: Forgotten,
): Promise<boolean> {
  if (runIds?.has(runId) === false) return false
  if (session !== undefined && (session.kind !== kind || session.name !== agent)) return false
  // A task in its first turn has begun since then, so it belongs to a new session.
  if (session !== undefined && isAtWork && turns === 1) return false
  const viewer = { owner, tenant }
  try {
    const mayCancel = cancels || (session !== undefined && runIds === undefined)
    if (isAtWork && mayCancel) await unless('task_not_cancelable', host.cancel(id, viewer))
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
