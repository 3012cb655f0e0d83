/**
 * Pauses agents, teams and workflows: none of their new runs starts until they are resumed.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { checkOptions, func } from '../../base/schemas.ts'
import { validate } from '../../base/validation.ts'
import type { Builders, Description } from '../../core/builders.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import { stateFor } from '../../core/no-state.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import { type Authenticate, operatorsGate } from '../../http/security/gate.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { plain } from '../../web/plain.ts'
import { jsonReply } from '../../web/reply.ts'
import { Brakes, KEPT, NAME } from './paused.ts'

/** Who may pause. */
export interface PausingOptions {
  /**
   * Decides who may pause and resume, beside those whose role has the right `pause`. Without it, the routes refuse everyone else in
   * production. Elsewhere they accept requests from this machine, and none from a web page of another origin.
   */
  readonly authenticate?: Authenticate | undefined
}

const OptionsSchema = v.strictObject({ authenticate: v.optional(func) })

/** Most characters of a reason. */
const MAX_REASON = 500

/** Most bytes of a body. */
const MAX_BODY = 16_384

const PauseSchema = v.object({
  reason: v.optional(
    v.pipe(
      v.string('must be text'),
      v.maxLength(MAX_REASON, `must have at most ${MAX_REASON} characters`),
      v.transform(text => plain(text, ' ').trim()),
    ),
  ),
})

const REFUSAL =
  'The routes of `pausing` answer those whose role has the right `pause`, and requests from this machine that no web page sends: give ' +
  '`pausing` an `authenticate`, or your identities roles'

/**
 * Lets operators pause an agent, a team or a workflow: every new run of it is refused with 503 `agent_paused` until it is resumed. Runs
 * at work go on. Needs a state. Throws `invalid_options`.
 *
 * @example
 * createHandler({ agents, plugins: [pausing()] })
 */
export function pausing(options: PausingOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const { authenticate } = options
  return asPlugin({
    name: NAME,
    kept: KEPT,
    brake(settings, callTransactions, catalog) {
      stateFor(NAME, settings.state)
      return new Brakes(settings, callTransactions, catalog)
    },
    mount(core) {
      const gate = operatorsGate(authenticate, REFUSAL, core.settings.production, 'pause')
      return {
        routes: pausingRoutes(core, core.runs.brake as Brakes, authenticate !== undefined),
        // The paths are among those of agents, so no base path is theirs.
        middleware: (request, context, next) =>
          context.part === NAME ? gate(request, context, next) : next(),
        cors: null,
        links: { paused: joinPath(core.prefix, 'paused') },
        describe: build => describePausing(build, authenticate !== undefined),
      }
    },
  })
}

/** The routes. The middleware before them has let the sender pass. */
function pausingRoutes(core: Core, brakes: Brakes, decidesItself: boolean): Route[] {
  const { prefix, catalog, maxBodyBytes } = core
  const checkShared = core.checkShared('To pause needs')
  const route = (
    method: Route['method'],
    path: string,
    act: (request: Request, state: RequestState) => Promise<object>,
  ): Route => ({
    ...{ method, path: joinPath(prefix, path), part: NAME, decidesItself },
    async endpoint(request, state) {
      checkShared(state)
      return jsonReply(await act(request, state), { headers: { 'cache-control': 'no-store' } })
    },
  })
  const note = (state: RequestState, event: string, facts: object) =>
    state.log({
      ...{ level: 'warn', channel: 'audit', event, outcome: 'ok' },
      ...{ actor: actorOf(state), ...facts, requestId: state.requestId },
    })
  const ofKind = (kind: Kind): Route[] => [
    route('POST', `${kind}s/:name/pause`, async (request, state) => {
      const { name } = catalog.resolve(kind, state.params.name ?? '')
      const reason = (await readReason(request, Math.min(maxBodyBytes, MAX_BODY))) || null
      const entry = { kind, name, reason, by: actorOf(state), at: new Date().toISOString() }
      await brakes.pause(entry)
      note(state, 'agent.paused', { kind, name, reason })
      return entry
    }),
    route('POST', `${kind}s/:name/resume`, async (_, state) => {
      const { name = '' } = state.params
      // What was paused can be resumed even if it is no longer served.
      if (!(await brakes.resume({ kind, name }))) catalog.resolve(kind, name)
      else note(state, 'agent.resumed', { kind, name })
      state.waitUntil(core.host.onFree?.() ?? Promise.resolve())
      return { kind, name }
    }),
  ]
  return [
    route('GET', 'paused', async () => ({ paused: await brakes.list() })),
    ...KINDS.flatMap(kind => ofKind(kind)),
  ]
}

function actorOf({ identity }: RequestState): string | null {
  return identity === undefined ? null : plain(identity.id)
}

/** The reason in a body, which may be left out. Throws `invalid_body`. */
async function readReason(request: Request, maxBytes: number): Promise<string | undefined> {
  if (request.body === null || request.headers.get('content-length') === '0') return undefined
  requireJson(request)
  return validate(PauseSchema, await readJson(request, maxBytes), 'invalid_body', 'body').reason
}

/** The OpenAPI description of the routes. */
function describePausing(build: Builders, hasToken: boolean): Description {
  const { at, operation, nameOf, answer, json, ref, object, list, text, maybeText, moment, choice } = build
  const kinds = choice(...KINDS)
  const paused = { kind: kinds, name: text, reason: maybeText, by: maybeText, at: moment }
  const ofKind = (kind: Kind) => {
    const title = `${kind[0]?.toUpperCase()}${kind.slice(1)}`
    return {
      [at(`${kind}s/{name}/pause`)]: {
        post: operation(NAME, `pause${title}`, `Refuse new runs of this ${kind}, or change the reason`, {
          parameters: [nameOf(kind)],
          requestBody: {
            required: false,
            content: json(object({ 'reason?': text }), { reason: 'It loops' }),
          },
          responses: { 200: answer('The entry', json(ref('Paused'))) },
          problems: [400, 401, 403, 404, 413, 415, 503],
        }),
      },
      [at(`${kind}s/{name}/resume`)]: {
        post: operation(NAME, `resume${title}`, `Let new runs of this ${kind} start again`, {
          parameters: [nameOf(kind)],
          responses: { 200: answer('It is not paused', json(object({ kind: kinds, name: text }))) },
          problems: [401, 403, 404, 503],
        }),
      },
    }
  }
  return {
    tags: [{ name: NAME, description: 'Agents, teams and workflows that start no new runs' }],
    paths: {
      [at('paused')]: {
        get: operation(NAME, 'listPaused', 'List what is paused', {
          responses: { 200: answer('What is paused', json(object({ paused: list(ref('Paused')) }))) },
          problems: [401, 403, 503],
        }),
      },
      ...Object.assign({}, ...KINDS.map(ofKind)),
    },
    schemas: { Paused: object(paused) },
    ...(hasToken && build.token(PART_SCHEMES.pausing, 'Token of an operator, for `pausing`')),
  }
}
