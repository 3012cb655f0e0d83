/**
 * Makes the {@link Caller} of a request.
 *
 * @module
 */

import type { GraphThread } from '../agents/graph.ts'
import { type SessionKey, type SessionStorage, sessionOf, threadIdOf } from '../agents/memory.ts'
import { statesOf } from '../agents/states.ts'
import { ServableError } from '../base/errors.ts'
import type { Context, RequestState } from '../http/context.ts'
import { after, type Encoder, encoded, encodedLogs } from '../http/runs/encoded.ts'
import { shownTo } from '../http/runs/shown-to.ts'
import { type AskedRun, StartedRun } from '../http/runs/start-run.ts'
import { RequestAsker } from '../http/security/asker.ts'
import type { Right } from '../http/security/rights.ts'
import { type Conversation, isChecked, parseConversation } from '../runs/input.ts'
import { checkPermitOf } from '../runs/permit.ts'
import type { RunQuery } from '../runs/stored/host.ts'
import { pageToJson } from '../runs/stored/log-page.ts'
import type { RunSummary } from '../runs/stored/record.ts'
import type { Target } from '../runs/target.ts'
import { parseJson } from '../web/json.ts'
import { type Reply, sseReply } from '../web/reply.ts'
import { counted } from '../web/sse.ts'
import type { Core, SessionActs } from './built-in.ts'
import type { AnswersToRun, Caller, CallerRuns, CallerSessions, SessionOf, StreamOptions } from './caller.ts'
import { stateOf } from './core.ts'
import type { PluginCore } from './plugin.ts'

/** Most runs of one message. */
const MAX_CHAIN = 100

/** Runs of a page, and most pages that are read for one run. */
const PAGE = 100
const MAX_PAGES = 10

/**
 * The sender of a request of a plugin's route: it starts runs, and reads and changes its own runs and sessions. Give the `request` and the
 * `context` that the endpoint got.
 *
 * @example
 * endpoint: async (request, context) => Response.json(await callerOf(core, request, context).runs.list())
 */
export function callerOf(core: PluginCore, request: Request, context: Context): Caller {
  // The core that a plugin gets has more than the plugin knows.
  return new RequestCaller(core as unknown as Core, request, stateOf(context))
}

/** Most requests start a run and use nothing else of it, so the rest is made when it is asked for. */
class RequestCaller implements Caller {
  readonly #core: Core
  readonly #request: Request
  readonly #state: RequestState
  readonly #asker: RequestAsker

  constructor(core: Core, request: Request, state: RequestState) {
    this.#core = core
    this.#request = request
    this.#state = state
    this.#asker = new RequestAsker(request, state, core.readKeys)
  }

  get owner(): string | null {
    return this.#state.owner
  }

  get whyUnstored(): string | undefined {
    return this.#core.whyUnstored(this.#state)
  }

  get runs(): CallerRuns {
    return new RequestRuns(this.#core, this.#asker, this.#state)
  }

  get sessions(): CallerSessions {
    return new RequestSessions(this.#core, this.#state)
  }

  may(right: Right, owner?: string | null): boolean {
    return this.#state.may(right, owner)
  }

  checkMayRun(target: Pick<Target, 'kind' | 'name'>): Promise<void> {
    return checkPermitOf(this.#core.runs.permit, this.#state, () => target)
  }

  async start(asked: AskedRun): Promise<StartedRun> {
    let started: StartedRun | undefined
    try {
      const checked = isChecked(asked) ? asked : { ...asked, ...checkConversation(asked) }
      started = await this.#core.start(checked, this.#asker)
      this.#state.started(started.id)
      return started
    } finally {
      // A plain run holds its input until it ends, so only other runs release it here.
      if (started?.run === undefined) asked.release?.()
    }
  }

  async stream(
    run: StartedRun | readonly string[],
    encoder: Encoder,
    { head, headers, keepAlive, after: position }: StreamOptions = {},
  ): Promise<Reply> {
    const { host, production, openStream } = this.#core
    const asked = { host, production, request: this.#request, state: this.#state, after: position }
    const isStarted = 'id' in run
    const source = await (isStarted ? encoded(run, encoder, asked) : encodedLogs(run, encoder, asked))
    const id = isStarted ? run.id : (run.at(-1) ?? '')
    const whole = head ? after(head, source) : source
    if (keepAlive !== undefined) Object.assign(whole, { keepAlive })
    return sseReply(counted(whole, openStream), { 'x-run-id': id, ...headers })
  }
}

/** Checks the conversation that a plugin passes, by the rules for bodies. Throws `invalid_body`. */
function checkConversation({ history, clientTools, memory }: AskedRun): Conversation {
  let text: string
  try {
    text = JSON.stringify({ history, clientTools, memory })
  } catch (cause) {
    throw new ServableError('invalid_body', 'The run must be JSON that is not nested too deep', { cause })
  }
  return parseConversation(parseJson(text))
}

class RequestRuns implements CallerRuns {
  readonly #core: Core
  readonly #asker: RequestAsker
  readonly #state: RequestState

  constructor(core: Core, asker: RequestAsker, state: RequestState) {
    this.#core = core
    this.#asker = asker
    this.#state = state
  }

  #begun(started: StartedRun): StartedRun {
    this.#state.started(started.id)
    return started
  }

  async get(id: string) {
    return shownTo(this.#state, await this.#core.host.get(id, this.#state.owner))
  }

  async open(id: string) {
    const { host } = this.#core
    const { owner } = this.#state
    return new StartedRun(undefined, await host.get(id, owner), host, owner, false)
  }

  async input(id: string) {
    const {
      input,
      options,
      isBackground = false,
      continues,
    } = await this.#core.host.asked(id, this.#state.owner)
    const { history, clientTools, metadata } = options
    return { input, history, clientTools, metadata, isBackground, answered: continues?.work.answered ?? [] }
  }

  async list(query: Partial<Omit<RunQuery, 'everyone'>> = {}) {
    const { identity, owner } = this.#state
    if (identity === undefined && !query.sessionId && !this.#core.settings.runs.listAnonymous)
      throw new ServableError('not_found', 'Listing runs needs an identity: see `runs.listAnonymous`')
    const page = await this.#core.host.list(owner, { limit: 50, ...query })
    return { ...page, runs: page.runs.map(run => shownTo(this.#state, run, owner)) }
  }

  async log(id: string, { after = 0, limit = 1000 }: { after?: number; limit?: number } = {}) {
    const query = { after, limit }
    return JSON.parse(pageToJson(await this.#core.host.events(id, this.#state.owner, query), query))
  }

  async newest({ target: { kind, name }, id: sessionId }: SessionOf, status?: RunQuery['status']) {
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const { runs, nextCursor } = await this.list({ kind, name, sessionId, status, cursor, limit: PAGE })
      const [run] = runs
      if (run !== undefined) return { run, chain: await this.#chainOf(run) }
      if (nextCursor === null) return undefined
      cursor = nextCursor
    }
    return undefined
  }

  /** The runs of one message, from the first one on. */
  async #chainOf({ id, continuedFrom }: Pick<RunSummary, 'id' | 'continuedFrom'>): Promise<string[]> {
    const chain = [id]
    let from = continuedFrom
    while (from !== undefined && chain.length < MAX_CHAIN) {
      chain.unshift(from)
      from = (await this.get(from)).continuedFrom
    }
    return chain
  }

  async chain(id: string) {
    const record = await this.get(id)
    const chain = await this.#chainOf(record)
    let next = record.continuedBy
    while (next !== undefined && chain.length < 2 * MAX_CHAIN) {
      chain.push(next)
      next = (await this.get(next)).continuedBy
    }
    return chain
  }

  async answer(asked: AnswersToRun) {
    const { record, started } = await this.#core.answer(asked, this.#asker)
    return { record, started: started && this.#begun(started) }
  }

  async resume(id: string) {
    return this.#begun(await this.#core.again.resume({ id }, this.#asker))
  }

  async retry(id: string) {
    return this.#begun(await this.#core.again.retry({ id }, this.#asker))
  }

  async cancel(id: string) {
    await this.#checkMayUse(id)
    return shownTo(this.#state, await this.#core.host.cancel(id, this.#state.owner))
  }

  async delete(id: string) {
    await this.#checkMayUse(id)
    await this.#core.host.delete(id, this.#state.owner)
  }

  #checkMayUse(id: string): Promise<void> {
    const { host, runs } = this.#core
    return checkPermitOf(runs.permit, this.#state, () => host.get(id, this.#state.owner))
  }
}

class RequestSessions implements CallerSessions {
  readonly #core: Core
  readonly #state: RequestState

  constructor(core: Core, state: RequestState) {
    this.#core = core
    this.#state = state
  }

  async list(query: Parameters<CallerSessions['list']>[0] = {}) {
    const { owner } = this.#state
    if (owner === null) throw new ServableError('not_found', 'Listing sessions needs an identity')
    return this.#acts.list(owner, { limit: 50, ...query })
  }

  async turns(session: SessionOf) {
    const { key, storage } = this.#readable(session)
    return storage.turns(key)
  }

  async tree(session: SessionOf) {
    const { key, storage } = this.#readable(session)
    return storage.tree(key)
  }

  async write(session: SessionOf, written: Parameters<CallerSessions['write']>[1]) {
    const { input, text, messageId, replaces, branchFrom } = written
    const { key, storage } = this.#keyOf(session)
    const { kind, name } = session.target
    await checkPermitOf(this.#core.runs.permit, this.#state, () => session.target)
    const runId = crypto.randomUUID()
    const at = Date.now()
    const turn = { runId, kind, name, input, messageId, status: 'running' as const, at }
    const { place } = await storage.enter(key, { ...turn, replaces, branchFrom })
    if (place > 0) {
      await storage.leave(key, { runId, status: 'failed' })
      throw new ServableError('session_busy', 'A run of the session is at work')
    }
    await storage.leave(key, { ...turn, status: 'completed', text, finishReason: 'stop', endedAt: at })
    await storage.changed?.(key)
    return messageId ?? runId
  }

  graph(session: SessionOf): GraphThread | undefined {
    const { graph } = session.target.servable
    if (graph === undefined) return undefined
    const { key, storage } = this.#keyOf(session)
    const { owner, sessionId } = key
    const ownId = threadIdOf(owner, sessionId)
    const states = statesOf(storage, key, { hasTurn: false, isCaller: true })
    const thread = graph.open({ sessionId, ownId, states })
    const check = async () => {
      // A checkpointer of the graph's own knows no owners.
      if (owner === null) await states.read({ space: '', id: '-' })
    }
    return {
      getState: async (...args) => check().then(() => thread.getState(...args)),
      history: async query => check().then(() => thread.history(query)),
      updateState: async (...args) => {
        await checkPermitOf(this.#core.runs.permit, this.#state, () => session.target)
        await check()
        if ((await storage.atWork(key, '')) === undefined) return thread.updateState(...args)
        throw new ServableError('session_busy', 'A run of the session is at work')
      },
    }
  }

  async rename(session: SessionOf, title: string) {
    return this.#acts.rename(this.#keyOf(session).key, title)
  }

  async fork(session: SessionOf, how: Parameters<CallerSessions['fork']>[1] = {}) {
    await checkPermitOf(this.#core.runs.permit, this.#state, () => session.target)
    return this.#acts.fork(this.#keyOf(session).key, this.#state.owner, how)
  }

  async deleteBranch({ target: { kind, name }, id }: SessionOf, runId: string) {
    await this.#acts.forgetBranch(this.#state.owner, { kind, name, id }, runId)
  }

  async delete({ target: { kind, name }, id }: SessionOf, { cancels = false } = {}) {
    if (await this.#acts.forget(this.#state.owner, { kind, name, id }, cancels)) return
    throw new ServableError('session_not_found', 'There is no such session')
  }

  get #acts(): SessionActs {
    const acts = this.#core.mounted.find(({ sessions }) => sessions)?.sessions
    if (acts !== undefined) return acts
    throw new ServableError(
      'unsupported_operation',
      'Sessions are not shown here: add the plugin `sessions()`',
    )
  }

  /** Without an identity, whoever guesses the id would read what others said. */
  #readable(session: SessionOf) {
    if (this.#state.owner === null) throw new ServableError('session_not_found', 'There is no such session')
    return this.#keyOf(session)
  }

  #keyOf({ target, id }: SessionOf): { readonly key: SessionKey; readonly storage: SessionStorage } {
    const { memory } = this.#core.runs
    const why = this.#core.whyUnstored(this.#state)
    const key = sessionOf(memory, target, { sessionId: id, identity: this.#state.owner ?? undefined })
    if (why === undefined && key && memory?.sessions) return { key, storage: memory.sessions }
    throw new ServableError('runs_not_stored', why ?? 'Sessions are not stored here')
  }
}
