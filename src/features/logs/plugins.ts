/**
 * The plugins `runLog` and `auditLog`.
 *
 * @module
 */

import { reportError, ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { asPlugin, type BuiltIn, type Core } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { type Middleware, RequestState } from '../../http/context.ts'
import { type Log, type LogEntry, loggedPath } from '../../http/log.ts'
import { pathnameOf } from '../../http/router.ts'
import type { CostOf } from '../../runs/numbers.ts'
import type { BegunRun } from '../../runs/observer.ts'
import { plain } from '../../web/plain.ts'
import { actOf, RUN_STARTED } from './acts.ts'
import { nameIn, observeRuns, subjectOf } from './runs.ts'

/** The destination of the entries. */
export interface LogPluginOptions {
  /** Writes the entries. Its errors are ignored. Default: the log of the handler. */
  readonly write?: Log
}

/**
 * Logs each ended run, over any transport: `run.ended`, with its name, status, duration, tokens, cost and tool calls. The log on
 * the console shows these entries in production, too. Make one for each handler. Throws `invalid_options`.
 *
 * @example
 * createHandler({ agents, plugins: [runLog()] })
 */
export function runLog(options: LogPluginOptions = {}): Plugin {
  const own = ownLog('runLog', options)
  const costOf: CostOf = (usage, model) => own.core?.runs.costOf?.(usage, model) ?? usage.cost
  return asPlugin({ name: 'run-log', observer: observeRuns(own.log, costOf), mount: own.mount })
}

/**
 * Logs who ran, decided and changed what: one entry of the channel `audit` for each act, with names and ids and without contents.
 * A refused act has an entry, too. Make one for each handler. Throws `invalid_options`.
 *
 * @example
 * createHandler({ agents, plugins: [auditLog({ write: entry => auditFile.write(`${JSON.stringify(entry)}\n`) })] })
 */
export function auditLog(options: LogPluginOptions = {}): Plugin {
  const own = ownLog('auditLog', options)
  const audit = (entry: Act) => own.log({ level: 'info', channel: 'audit', ...entry })
  return asPlugin({
    name: 'audit-log',
    observer: {
      start(run) {
        audit(startedBy(run))
        return undefined
      },
    },
    mount: core => ({ ...own.mount(core), outer: auditing(audit, options.write !== undefined) }),
  })
}

/** An entry of the audit log. */
export interface AuditEntry extends LogEntry, Act {
  readonly channel: 'audit'
  readonly event: string
}

/** Who did what. */
interface Act {
  readonly event: string
  /** `ok`, the code of the error, or `refused` with the `status` of the answer. */
  readonly outcome: string
  /** The identity of the actor. Null if nobody is identified. */
  readonly actor: string | null
  /** The path of the request, or the target of a run: `agents/echo`. */
  readonly target: string
  readonly requestId?: string | undefined
  readonly [field: string]: unknown
}

/** The log of the options, or of the handler that mounts the plugin. Its errors are ignored. */
function ownLog(name: string, options: LogPluginOptions) {
  const { write, ...others } = isObject(options) ? options : ({ '': 1 } as LogPluginOptions)
  if (Object.keys(others).length > 0 || (write !== undefined && typeof write !== 'function'))
    throw new ServableError(
      'invalid_options',
      `\`${name}\` takes the option \`write\`, which must be a function`,
    )
  let serving: Core | undefined
  return {
    get core() {
      return serving
    },
    log(entry: LogEntry) {
      try {
        const to = write ?? serving?.log
        to?.(entry)
      } catch {
        // There is no other place to report the error.
      }
    },
    mount: ((core: Core) => ({
      begin() {
        if (serving !== undefined)
          throw new ServableError('invalid_options', `\`${name}()\` is for one handler: make one for each`)
        serving = core
      },
    })) satisfies BuiltIn['mount'],
  }
}

/** The start of a run as an act of its owner. */
function startedBy(run: BegunRun): Act {
  const { kind, name, owner, transport, requestId, answers } = run
  const decisions = answers?.flatMap(answer => ('decision' in answer ? [answer.decision] : []))
  return {
    event: RUN_STARTED,
    outcome: 'ok',
    actor: owner === null ? null : nameIn(owner),
    target: `${kind}s/${nameIn(name)}`,
    runId: subjectOf(run).runId,
    ...(transport !== undefined && { transport }),
    ...(requestId !== undefined && { requestId }),
    ...(decisions && { decisions }),
  }
}

/**
 * Audits each request that changes something, once its outcome is known. A log that is apart gets what roles did, too: that is in the
 * handler's log already.
 */
function auditing(audit: (entry: Act) => void, isApart: boolean): Middleware {
  // Runs have entries of their own, and so has what the handler's log knows already.
  const isLogged = (event: string, part: string) => event === RUN_STARTED || (part === 'pausing' && !isApart)
  return async (request, context, next) => {
    if (!(context instanceof RequestState)) return next()
    const report = (outcome: string, status?: number) => {
      const { part, rpc, match } = context
      const path = pathnameOf(request.url)
      if (match?.found !== 'route') return
      const owner = isApart ? otherOwner(context) : undefined
      if (owner !== undefined) audit({ event: 'access.used', ...askedBy(context, path), owner, outcome })
      const event = actOf({ method: request.method, path, part, rpc: rpc?.method })
      if (event === undefined || (outcome === 'ok' && isLogged(event, part))) return
      audit({ event, ...askedBy(context, path), outcome, ...(status !== undefined && { status }) })
    }
    let response: Response
    try {
      response = await next()
    } catch (error) {
      report(reportError(error, true, 'internal_error').code)
      throw error
    }
    const { status } = response
    const code = context.rpc?.code
    if (code !== undefined) report(code)
    else if (status < 400) report('ok')
    else report('refused', status)
    return response
  }
}

/** For whom a request acts; `*` for all. Undefined for its sender. */
function otherOwner({ identity, owner, isOfEveryone }: RequestState): string | undefined {
  if (isOfEveryone) return '*'
  return identity === undefined || owner === null || owner === identity.id ? undefined : nameIn(owner)
}

function askedBy({ identity, ip, rpc, requestId, runRef }: RequestState, path: string) {
  return {
    actor: identity === undefined ? null : nameIn(identity.id),
    ...(ip !== undefined && { ip: plain(ip) }),
    target: loggedPath(path, identity !== undefined),
    ...(rpc?.method !== undefined && { method: rpc.method }),
    ...(runRef !== undefined && { runId: runRef }),
    requestId,
  }
}
