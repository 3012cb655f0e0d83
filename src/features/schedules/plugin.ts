/**
 * Schedules as a plugin: the entry `servable/schedules`. It needs the package `croner`.
 *
 * Begin with `service.ts`, then `cron.ts` and `ticker.ts` (the timer of a process). May import `core` and what is below it, and
 * no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, func } from '../../base/schemas.ts'
import type { Builders, Description, Operation } from '../../core/builders.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { stateFor } from '../../core/no-state.ts'
import { callIn, remote } from '../../core/object-service.ts'
import type { Plugin } from '../../core/plugin.ts'
import { logThrown } from '../../http/failure-log.ts'
import { joinPath } from '../../http/router.ts'
import { type Authenticate, operatorsGate } from '../../http/security/gate.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import type { Store } from '../../stores/store.ts'
import { codeOf } from './kept.ts'
import { type ScheduleMethods, scheduleRoutes } from './routes.ts'
import type { Schedule } from './schedule.ts'
import { ScheduleService } from './service.ts'
import { startScheduled } from './starting.ts'
import { ScheduleTicker } from './ticker.ts'

export type { SchedulePage, ScheduleView } from './routes.ts'
export { type Schedule, type ScheduleOptions, type ScheduleTarget, schedule } from './schedule.ts'

/** Who may list, pause and run schedules. */
export interface SchedulesOptions {
  /**
   * Decides who is an administrator. Without it, the routes refuse everyone in production. Elsewhere they accept only requests
   * from this machine, and none from a web page of another origin.
   */
  readonly authenticate?: Authenticate | undefined
}

/** The name of the plugin and of its object service, and the address of the object. */
const NAME = 'schedules'

const OptionsSchema = v.strictObject({ authenticate: v.optional(func) })

const OPEN_WARNING =
  '`schedules` has no `authenticate`: its routes answer only requests from this machine, and none from a web page. To let others in, ' +
  "write `schedules([…], { authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) })`"

const SHARED =
  '`schedules` needs a state that outlives its servers and that all of them share: `sqliteState()` of `servable/sqlite`, ' +
  '`postgresState()` of `servable/postgres`, or on Workers `durableState()` of `servable/cloudflare`'

const NEEDS_SERVER =
  '`schedules` needs a server that runs for long, to start runs when nobody asks. Serve the same state with ' +
  '`serve` of `servable/node`, and leave `schedules` out here'

/**
 * Starts runs by the clock, once per tick with any number of processes, and lists schedules at `GET /schedules`. Throws
 * `invalid_options`, also for a state that is only in memory.
 *
 * @example
 * schedules([schedule('report', { cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', input: 'Write it', owner: 'ada' })])
 */
export function schedules(list: readonly Schedule[], options: SchedulesOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  checkList(list)
  const { authenticate } = options
  return asPlugin({
    name: NAME,
    objectServices: { index: (context, core) => createScheduleObject(context, core, list) },
    mount(core) {
      checkCore(core, list)
      const { prefix, log, life, settings } = core
      const state = stateFor(NAME, settings.state)
      const path = joinPath(prefix, NAME)
      let methods: ScheduleMethods
      if (state.kind === 'hosted') methods = remote<ScheduleMethods>(state.reach('index', NAME, NAME))
      else {
        const ticker = new ScheduleTicker(core)
        const kept = keptIn(state.store, core, list, at => ticker.wakeBy(at))
        life.whileServing(() => ticker.begin(() => kept.look()))
        methods = kept
      }
      return {
        routes: scheduleRoutes(core, list, methods, authenticate !== undefined),
        base: {
          path,
          guard: operatorsGate(authenticate, OPEN_WARNING, core.settings.production, 'schedules'),
        },
        cors: null,
        links: { schedules: path },
        needsServer: state.kind === 'local' ? NEEDS_SERVER : undefined,
        ring: () => methods.wake(),
        describe: build => ({
          ...describeSchedules(build),
          ...(authenticate &&
            build.token(PART_SCHEMES.schedules, 'Token of an administrator, for `schedules`')),
        }),
        begin() {
          if (authenticate === undefined && !core.settings.production)
            log({ level: 'warn', event: 'schedules.open', message: OPEN_WARNING })
        },
      }
    },
  })
}

function checkList(list: readonly Schedule[]): void {
  const names = new Set<string>()
  for (const each of Array.isArray(list) ? list : [undefined]) {
    const { name, cron } = Object(each) as Partial<Schedule>
    if (name === undefined || cron === undefined)
      throw wrong('needs an array of schedules: `schedules([schedule(agent, { … })])`')
    if (names.has(name)) throw wrong(`there are two schedules named \`${name}\`: give one another \`name\``)
    names.add(name)
  }
}

function checkCore({ settings, catalog, whyUnstored }: Core, list: readonly Schedule[]): void {
  const state = stateFor(NAME, settings.state)
  if (state.kind === 'local' && state.isVolatile) throw new ServableError('invalid_options', SHARED)
  const why = whyUnstored({ isIsolated: false })
  if (why !== undefined) throw wrong(`needs stored runs. ${why}`)
  for (const { name, target, servable } of list) {
    const found = catalog.find(target.kind, target.name)
    if (found !== undefined && (servable === undefined || found.servable === servable)) continue
    throw wrong(
      `\`${name}\` runs the ${target.kind} \`${target.name}\`, which is not served under that name: add it to \`serve\``,
    )
  }
}

function wrong(text: string): ServableError {
  return new ServableError('invalid_options', `\`schedules\`: ${text}`)
}

function keptIn(
  store: Store,
  core: Core,
  schedules: readonly Schedule[],
  wakeBy: (at: number) => unknown,
): ScheduleService {
  return new ScheduleService({
    ...{ store, schedules, wakeBy, retentionMs: core.runs.retentionMs },
    start: (schedule, tick) => startScheduled(core, schedule, tick),
    onFailure: (schedule, error) => logThrown(core.log, { event: 'schedule.failed', schedule }, error),
  })
}

/** Creates the service in the object of all schedules. Its alarm is set for the next due time. */
function createScheduleObject(
  { store, wakeBy }: ObjectContext,
  core: Core,
  list: readonly Schedule[],
): ObjectService {
  const kept = keptIn(store, core, list, wakeBy)
  const methods: ScheduleMethods = {
    known: names => kept.known(names),
    pause: name => kept.pause(name),
    resume: name => kept.resume(name),
    run: (name, key) => kept.run(name, key),
    wake: () => kept.wake(),
  }
  return {
    async ask(method, args) {
      const answer = await callIn(methods, method, args)
      // The first call creates the object, which then sets its alarm.
      if (method !== 'wake') await kept.wake()
      return answer
    },
    async alarm() {
      // Objects at other addresses have no schedules.
      if (store.read(codeOf) === undefined) return
      const at = await kept.look()
      if (at !== undefined) await wakeBy(at)
    },
  }
}

/** The OpenAPI description of the routes. */
function describeSchedules(build: Builders): Description {
  const { at, answer, json, operation, page, parameter, ref, object, list, choice } = build
  const { text, maybeText, flag, moment } = build
  const tag = 'schedules'
  const name = parameter('path', 'name', 'Name of the schedule')
  const maybe = (schema: object) => ({ ...schema, nullable: true })
  const act = (operationId: string, summary: string): Operation =>
    operation(tag, operationId, summary, {
      parameters: [name],
      responses: { 200: answer('The schedule', json(ref('Schedule'))) },
      problems: [401, 403, 404],
    })
  return {
    tags: [{ name: tag, description: 'Runs by the clock' }],
    paths: {
      [at('schedules')]: {
        get: page(tag, 'listSchedules', 'List schedules, in the order of the code', 'SchedulePage', []),
      },
      [at('schedules/{name}')]: { get: act('getSchedule', 'Read a schedule') },
      [at('schedules/{name}/pause')]: { post: act('pauseSchedule', 'Let a schedule start no runs') },
      [at('schedules/{name}/resume')]: {
        post: act('resumeSchedule', 'Let it start runs again, from now on'),
      },
      [at('schedules/{name}/run')]: {
        post: operation(tag, 'runSchedule', 'Start a run of a schedule now', {
          parameters: [
            name,
            parameter('header', 'Idempotency-Key', 'The same key again finds the run that it has started'),
          ],
          responses: { 202: answer('The run', json(object({ schedule: text, runId: text }))) },
          problems: [401, 403, 404, 429],
        }),
      },
    },
    schemas: {
      Schedule: object({
        name: text,
        cron: text,
        timezone: text,
        target: object({ kind: choice('agent', 'team', 'workflow'), name: text }),
        owner: text,
        sessionId: maybeText,
        missed: choice('run', 'skip'),
        isPaused: flag,
        nextTickAt: maybe(moment),
        lastRun: maybe(object({ id: text, tickAt: moment, status: maybeText })),
        lastError: maybe(object({ code: text, message: text, at: moment })),
      }),
      SchedulePage: object({ schedules: list(ref('Schedule')), nextCursor: maybeText }),
    },
  }
}
