import { encodeCursor } from '../runs/cursor.ts'
import type { Viewer } from '../runs/host.ts'
import { MAX_LOOKS, readPage } from '../runs/page.ts'
import { partitionOf } from '../runs/record.ts'
import { sizeOf } from '../state/size.ts'
import type { Reader } from '../state/store.ts'
import type { ListRequest, Task, TaskPage } from './model.ts'
import { type StoredTask, TASKS, toDocument, withHistory } from './task-record.ts'

/** A page of tasks as their stored documents. */
export interface StoredPage {
  readonly tasks: readonly StoredTask[]
  readonly nextPageToken: string
  readonly totalSize: number
}

/** Returns a page of an owner's tasks, newest status first. Throws `invalid_query` for an invalid page token. */
export function listTasks(tx: Reader, owner: Viewer, request: ListRequest): StoredPage {
  const { contextId, state, pageSize, pageToken, updatedAfter } = request
  const tags: Record<string, string> = {}
  if (contextId !== undefined) tags.contextId = contextId
  if (state !== undefined) tags.state = state
  const filter = { partition: partitionOf(owner), tags, since: updatedAfter }
  const where = { cursor: pageToken || undefined, limit: pageSize }
  const { values, next = '' } = readPage<StoredTask>(tx, TASKS, filter, where)
  // The specification requires a number (section 3.1.4). An exact count of many tasks would cost more than the page itself.
  const totalSize = tx.countMatching(TASKS, { ...filter, looks: MAX_LOOKS })
  return { tasks: values, nextPageToken: next, totalSize }
}

/** Most bytes of the tasks on a page, by estimate. A task can be as large as a message and a run. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

/** Fills a page of tasks. The page ends early if its tasks are too large together. It always has at least one task. */
export class PageFiller {
  readonly #page: StoredPage
  readonly #request: ListRequest
  readonly #tasks: Task[] = []
  #bytes = 0
  #last: StoredTask | undefined
  #isCut = false

  constructor(page: StoredPage, request: ListRequest) {
    this.#page = page
    this.#request = request
  }

  /** Adds the next task of the page. Returns false if it does not fit. The page then ends. */
  add(stored: StoredTask, task: Task): boolean {
    const listed = forList(task, this.#request)
    this.#bytes += sizeOf(listed) ?? 0
    if (this.#bytes > MAX_PAGE_BYTES && this.#last !== undefined) this.#isCut = true
    if (this.#isCut) return false
    this.#last = stored
    this.#tasks.push(listed)
    return true
  }

  /** Ends the page here if it has a task already. Returns whether it has. */
  end(): boolean {
    this.#isCut = this.#last !== undefined
    return this.#isCut
  }

  /** Returns the page with the tasks that were added. */
  done(): TaskPage {
    const { nextPageToken, totalSize } = this.#page
    const cutAfter = this.#isCut ? this.#last : undefined
    return {
      tasks: this.#tasks,
      pageSize: this.#request.pageSize,
      nextPageToken: cutAfter === undefined ? nextPageToken : encodeCursor(toDocument(cutAfter)),
      totalSize,
    }
  }
}

/** The task with the members that the list request asks for. */
function forList(task: Task, { historyLength, includeArtifacts }: ListRequest): Task {
  const { artifacts, ...rest } = withHistory(task, historyLength)
  return includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest
}
