/**
 * `/schedules`: the schedules, for administrators.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/contract.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { paging, validate } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { ServiceCalls } from '../../core/object-service.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { idempotencyKeyOf } from '../../http/runs/idempotency.ts'
import type { RunStatus } from '../../runs/stored/record.ts'
import { plain } from '../../web/plain.ts'
import { jsonReply } from '../../web/reply.ts'
import type { StoredSchedule } from './kept.ts'
import type { Schedule } from './schedule.ts'
import type { ScheduleService } from './service.ts'

/** The methods that the routes call, in this process or in the object. */
export type ScheduleMethods = ServiceCalls<
  Pick<ScheduleService, 'known' | 'pause' | 'resume' | 'run' | 'wake'>
>

/** A schedule in responses. Times are ISO 8601, in UTC. */
export interface ScheduleView {
  readonly name: string
  readonly cron: string
  readonly timezone: string
  readonly target: { readonly kind: Kind; readonly name: string }
  /** The owner of its runs. */
  readonly owner: string
  readonly sessionId: string | null
  readonly missed: 'run' | 'skip'
  readonly isPaused: boolean
  /** Null while it is paused. */
  readonly nextTickAt: string | null
  readonly lastRun: {
    readonly id: string
    /** The time of the tick, or of the start by hand. */
    readonly tickAt: string
    /** Null if the run is deleted. */
    readonly status: RunStatus | null
  } | null
  /** Why the last start failed. Null after a successful start. */
  readonly lastError: { readonly code: string; readonly message: string; readonly at: string } | null
}

/** A page of schedules, in the order of the code. */
export interface SchedulePage {
  readonly schedules: readonly ScheduleView[]
  /** The cursor of the next page. Null only at the end. */
  readonly nextCursor: string | null
}

const QuerySchema = v.object({
  ...paging,
})

/** Makes the routes. The guard before them authenticates administrators. */
export function scheduleRoutes(
  { prefix, host }: Pick<Core, 'prefix' | 'host'>,
  list: readonly Schedule[],
  methods: ScheduleMethods,
  hasGate: boolean,
): Route[] {
  const { find, pageOf, one } = viewsOf(host, list, methods)
  const route = (
    method: Route['method'],
    path: string,
    act: (request: Request, state: RequestState) => Promise<unknown>,
    status = 200,
  ): Route => ({
    ...{ method, path: joinPath(prefix, path), part: 'schedules', decidesItself: hasGate },
    endpoint: async (request, state) =>
      jsonReply(await act(request, state), { status, headers: { 'cache-control': 'no-store' } }),
  })
  /** Changes by administrators are logged at a level that the default log shows. */
  const change = (
    action: 'pause' | 'resume' | 'run',
    act: (schedule: Schedule, request: Request) => Promise<unknown>,
    status?: number,
  ): Route =>
    route(
      'POST',
      `schedules/:name/${action}`,
      async (request, state) => {
        const schedule = find(state)
        const answer = await act(schedule, request)
        const who = state.owner === null ? null : plain(state.owner)
        const { requestId } = state
        state.log({ level: 'warn', event: 'schedule.act', action, schedule: schedule.name, who, requestId })
        return answer
      },
      status,
    )
  return [
    route('GET', 'schedules', pageOf),
    route('GET', 'schedules/:name', async (_, state) => {
      const schedule = find(state)
      return one(schedule, methods.known([schedule.name]))
    }),
    change('pause', schedule => one(schedule, methods.pause(schedule.name))),
    change('resume', schedule => one(schedule, methods.resume(schedule.name))),
    change(
      'run',
      async ({ name }, { headers }) => ({
        schedule: name,
        runId: await methods.run(name, idempotencyKeyOf(headers) ?? crypto.randomUUID()),
      }),
      202,
    ),
  ]
}

/** Makes the functions that find schedules and show them. */
function viewsOf(host: Core['host'], list: readonly Schedule[], methods: ScheduleMethods) {
  const positions = new Map(list.map(({ name }, position) => [name, position]))
  const find = ({ params }: RequestState): Schedule => {
    const schedule = list[positions.get(params.name ?? '') ?? -1]
    if (schedule !== undefined) return schedule
    throw new ServableError('not_found', 'There is no schedule of that name')
  }
  const statusOf = async (id: string, owner: string): Promise<RunStatus | null> => {
    try {
      return (await host.get(id, owner)).status
    } catch (error) {
      if (isServableError(error) && error.code === 'run_not_found') return null
      throw error
    }
  }
  const viewOf = async (schedule: Schedule, kept: StoredSchedule | undefined): Promise<ScheduleView> => {
    const { name, cron, timezone, target, owner, sessionId = null, missed } = schedule
    const { isPaused = false, nextAt, last, lastError } = kept ?? {}
    return {
      ...{ name, cron, timezone, target, owner, sessionId, missed, isPaused },
      nextTickAt: nextAt === undefined ? null : iso(nextAt),
      lastRun: last ? { id: last.id, tickAt: iso(last.at), status: await statusOf(last.id, owner) } : null,
      lastError: lastError ? { ...lastError, at: iso(lastError.at) } : null,
    }
  }
  const pageOf = async (request: Request): Promise<SchedulePage> => {
    const parameters = Object.fromEntries(queryOf(request.url))
    const { cursor, limit } = validate(QuerySchema, parameters, 'invalid_query', 'query')
    const last = cursor === undefined ? -1 : positions.get(cursor)
    if (last === undefined)
      throw new ServableError('invalid_query', '`cursor` must be the `nextCursor` of a page before')
    const shown = list.slice(last + 1, last + 1 + limit)
    const known = await methods.known(shown.map(({ name }) => name))
    const views = shown.map((schedule, at) => viewOf(schedule, known[at]?.[1]))
    const hasMore = last + 1 + limit < list.length
    return { schedules: await Promise.all(views), nextCursor: hasMore ? (shown.at(-1)?.name ?? null) : null }
  }
  const one = async (schedule: Schedule, known: ReturnType<ScheduleMethods['known']>) =>
    viewOf(schedule, (await known)[0]?.[1])
  return { find, pageOf, one }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
