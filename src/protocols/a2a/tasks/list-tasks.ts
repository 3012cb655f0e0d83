import { ServableError } from '../../../base/errors.ts'
import { decodeCursor, encodeCursor, MAX_LOOKS, readPage } from '../../../runs/stored/page.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import { sizeOf } from '../../../stores/size.ts'
import type { Filter, Reader } from '../../../stores/store.ts'
import type { ListRequest, Task, TaskPage } from '../model.ts'
import type { TaskViewer } from './task-host.ts'
import { type StoredTask, TASKS, tagsOf, toDocument, withHistory } from './task-record.ts'

/** A page of tasks as their stored documents. */
export interface StoredPage {
  readonly tasks: readonly StoredTask[]
  readonly nextPageToken: string
  readonly totalSize: number
  /** Identifies the filter in page tokens. */
  readonly mark: string
}

/** Returns a page of an owner's tasks, newest status first. Throws `invalid_params` for an invalid page token. */
export function listTasks(tx: Reader, { owner, tenant }: TaskViewer, request: ListRequest): StoredPage {
  const { contextId, state, pageSize, updatedAfter, isOfAll = false } = request
  const tags: Record<string, string> = { ...tagsOf(tenant) }
  if (contextId !== undefined) tags.contextId = contextId
  if (state !== undefined) tags.state = state
  const filter = { partition: partitionOf(owner), tags, since: updatedAfter }
  const mark = markOf({ tenant, contextId, state, updatedAfter })
  const where = { cursor: cursorIn(request, mark), limit: pageSize, isLive: true }
  const { values, next } = readPage<StoredTask>(tx, TASKS, filter, where)
  const tasks = isOfAll ? values : values.filter(task => task.tenant === tenant)
  return {
    tasks,
    nextPageToken: next === undefined ? '' : tokenOf(next, mark),
    totalSize: totalIn(tx, filter, tenant === undefined && request.hasTenants === true),
    mark,
  }
}

/**
 * How many tasks match. The specification requires a number (section 3.1.4). An exact count of many tasks would cost more than
 * the page itself. `isApart`: tasks of tenants do not count.
 */
function totalIn(tx: Reader, filter: Omit<Filter, 'looks'>, isApart: boolean): number {
  const { count: all } = tx.countMatching(TASKS, { ...filter, looks: MAX_LOOKS })
  if (!isApart || all === 0) return all
  const tags = { ...filter.tags, hasTenant: 'yes' }
  return Math.max(0, all - tx.countMatching(TASKS, { ...filter, tags, looks: MAX_LOOKS }).count)
}

/** The cursor in the page token. Throws `invalid_params` for an invalid token, and for a token of a list with another filter. */
export function cursorIn(
  { pageToken = '' }: Pick<ListRequest, 'pageToken'>,
  mark?: string,
): string | undefined {
  if (pageToken === '') return undefined
  const [cursor = '', own] = pageToken.split('.')
  try {
    decodeCursor(cursor)
  } catch (cause) {
    throw wrongToken('must be the `nextPageToken` of the previous page', cause)
  }
  if (mark !== undefined && own !== mark) throw wrongToken('is of a list with another filter')
  return cursor
}

function tokenOf(cursor: string, mark: string): string {
  return `${cursor}.${mark}`
}

function wrongToken(message: string, cause?: unknown): ServableError {
  const issues = [{ path: 'pageToken', message }]
  return new ServableError('invalid_params', `\`pageToken\` ${message}`, { cause, issues })
}

/** Eight characters that identify a filter. A client that forges them sees nothing that it may not see. */
function markOf(filter: object): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(JSON.stringify(filter))) {
    hash = Math.imul(hash ^ byte, 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
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
    const { nextPageToken, totalSize, mark } = this.#page
    const cutAfter = this.#isCut ? this.#last : undefined
    return {
      tasks: this.#tasks,
      pageSize: this.#request.pageSize,
      nextPageToken:
        cutAfter === undefined ? nextPageToken : tokenOf(encodeCursor(toDocument(cutAfter)), mark),
      totalSize,
    }
  }
}

/** The task with the members that the list request asks for. */
function forList(task: Task, { historyLength, includeArtifacts }: ListRequest): Task {
  const { artifacts, ...rest } = withHistory(task, historyLength)
  return includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest
}
