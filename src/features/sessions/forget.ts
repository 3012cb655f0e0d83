/**
 * Deletes sessions, and all data of an owner.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { SessionKey, SessionStorage } from '../../agents/memory.ts'
import { KINDS } from '../../agents/registry.ts'
import { isServableError } from '../../base/errors.ts'
import { createWake } from '../../base/wake.ts'
import type { Core } from '../../core/built-in.ts'
import type { Forgetting } from '../../core/plugin.ts'
import type { Calls } from '../../core/transaction-calls.ts'
import { stillAtWork } from '../../runs/feedback.ts'
import { busy } from '../../runs/sessions/session-steering.ts'
import { sessionAddressOf } from '../../runs/sessions/session-storage.ts'
import type { RunQuery } from '../../runs/stored/host.ts'
import type { RunSummary } from '../../runs/stored/record.ts'
import type { Position } from '../../stores/store.ts'
import { ENDING_SERVICE, ENDING_TRANSACTIONS, type EndingTransactions } from './ending.ts'
import { keyOf, listOf, type SessionService } from './service.ts'

/** The address at which owners of sessions are looked for: any, where sessions have no objects of their own. */
const TENANTS = 'tenants'

/** Owners whose data one request deletes. */
const OWNERS_AT_ONCE = 20

/** A session in a request. */
export interface SessionReference {
  readonly kind: Kind
  readonly name: string
  readonly id: string
}

/** Deletes sessions and owners. */
export class Forgetter {
  readonly #core: Pick<Core, 'host' | 'mounted' | 'catalog'>
  readonly #files: Core['runs']['files']
  readonly #calls: Calls<EndingTransactions>
  readonly #shown: SessionService
  readonly #kept: SessionStorage

  constructor(core: Core, shown: SessionService, kept: SessionStorage) {
    this.#core = core
    this.#files = core.runs.files
    this.#calls = core.callTransactions(ENDING_SERVICE, ENDING_TRANSACTIONS)
    this.#shown = shown
    this.#kept = kept
  }

  /**
   * Deletes a session of the caller and all its data. Returns whether there was any. Throws `session_busy` while a run of it is
   * running, unless `cancels`. After any error, the call can be repeated.
   */
  async session(owner: string | null, session: SessionReference, cancels: boolean): Promise<boolean> {
    const { kind, name, id } = session
    const key = keyOf(owner, kind, name, id)
    const query = { kind, name, sessionId: id }
    // Without an owner, runs of others may have the same session id.
    if (owner === null && !(await this.#calls.isThere(sessionAddressOf(key), key))) return false
    await this.#stopRuns(owner, query, cancels)
    return this.#end(key, owner, cancels, async () => {
      const found = [
        await this.#askPlugins({ owner, session, cancels }),
        await this.#forgetRuns(owner, query, run => this.#isOfBefore(run, owner)),
      ]
      return found.includes(true)
    })
  }

  /**
   * Deletes a turn of a session and all after it, with their stored runs, tasks and files. The turns go last: after any error, the call can
   * be repeated. Throws `session_not_found`, `run_not_found`, and `session_busy` if one of the runs is at work.
   */
  async branch(owner: string | null, session: SessionReference, runId: string): Promise<void> {
    const { kind, name, id } = session
    const key = keyOf(owner, kind, name, id)
    const { runIds, ofFiles } = await this.#shown.runsOfBranch(key, runId)
    const leaving = new Set(runIds)
    // The turns of a fork are copies, with the runs of another session.
    await this.#forEach(owner, { kind, name, sessionId: id }, async run =>
      leaving.has(run.id) ? unlessGone(this.#core.host.delete(run.id, owner)) : false,
    )
    for (const { forgetRuns } of this.#core.mounted) await forgetRuns?.({ owner, session, runIds: leaving })
    await this.#files?.forgetTurns?.(ofFiles, owner, key)
    await this.#shown.deleteBranch(key, runId)
  }

  /**
   * Deletes all data of an owner. Throws `session_busy` as for one session; data that was deleted before the error stays deleted.
   */
  async owner(owner: string, cancels: boolean): Promise<void> {
    if (!cancels) await this.#stopRuns(owner, {}, false)
    for (let round = 0; round < ROUNDS; round++) {
      const found = [
        await this.#forgetSessions(owner, cancels),
        await this.#forgetRuns(owner, {}, run => this.#isStopped(run, owner, cancels)),
        await this.#askPlugins({ owner, cancels }),
      ]
      if (!found.includes(true)) return
    }
  }

  /**
   * Deletes all data of some owners of a tenant, and returns their number: 0 once nothing is left. Throws `session_busy` as for one
   * owner, and `unsupported_operation` where nothing lists the runs of all.
   */
  async tenant(tenant: string, cancels: boolean): Promise<number> {
    const owners = new Set(await this.#calls.owners(TENANTS, tenant))
    for (const { ownersOf } of this.#core.mounted)
      for (const owner of (await ownersOf?.(tenant)) ?? []) owners.add(owner)
    let cursor: string | undefined
    do {
      const query = { everyone: { tenant }, cursor, limit: PAGE }
      const { runs, nextCursor } = await this.#core.host.list(null, query)
      for (const { owner } of runs) if (owner) owners.add(owner)
      cursor = nextCursor ?? undefined
    } while (owners.size === 0 && cursor !== undefined)
    const some = [...owners].slice(0, OWNERS_AT_ONCE)
    for (const owner of some) await this.owner(owner, cancels)
    return some.length
  }

  async #forgetSessions(owner: string, cancels: boolean): Promise<boolean> {
    let hasFound = false
    let after: Position | undefined
    do {
      const { keys, next } = await this.#calls.keys(listOf(owner), owner, after)
      for (const key of keys) {
        if (await this.#end(key, owner, cancels, async () => false)) hasFound = true
      }
      after = next
    } while (after !== undefined)
    return hasFound
  }

  /** Claims the session, runs `work`, and deletes the session last, so that a repeated call finds remaining data by it. */
  async #end(
    key: SessionKey,
    owner: string | null,
    cancels: boolean,
    work: () => Promise<boolean>,
  ): Promise<boolean> {
    const at = sessionAddressOf(key)
    const id = crypto.randomUUID()
    const wake = createWake()
    const turn = this.#kept.join(key, { runId: id, stop: () => {}, look: () => wake.fire() })
    const claim = () => this.#calls.claim(at, key, id, cancels)
    let renewing: ReturnType<typeof setInterval> | undefined
    let hasFound = false
    try {
      for (;;) {
        const isThere = await this.#claim(claim, [...turn.others], wake)
        if (isThere) renewing ??= setInterval(() => void claim().catch(() => {}), RENEW_MS)
        if (await work()) hasFound = true
        if (!isThere) {
          await this.#shown.takeOff(key)
          return hasFound
        }
        await this.#files?.forgetTurns?.(await this.#calls.runsOfFiles(at, key), owner, key)
        await this.#endInner(key)
        await this.#shown.takeOff(key)
        if (await this.#calls.end(at, key, id)) return true
      }
    } catch (error) {
      await this.#calls.release(at, key, id).catch(() => {})
      throw error
    } finally {
      clearInterval(renewing)
      turn.release()
    }
  }

  /** Waits until the session is free. Returns false if there is none. */
  async #claim(
    claim: () => ReturnType<Calls<EndingTransactions>['claim']>,
    others: readonly { readonly runId: string; stop(): void }[],
    wake: ReturnType<typeof createWake>,
  ): Promise<boolean> {
    const giveUpAt = performance.now() + PATIENCE_MS
    for (;;) {
      const claimed = await claim()
      if (claimed === undefined) return false
      if (claimed.place === 0) return true
      for (const other of others) if (claimed.stops.includes(other.runId)) other.stop()
      if (performance.now() > giveUpAt) throw busy()
      const timer = setTimeout(() => wake.fire(), LOOK_MS)
      await wake.wait()
      clearTimeout(timer)
    }
  }

  /** Deletes what the target remembered in sessions of other targets that ran it as a member. */
  async #endInner(key: SessionKey): Promise<void> {
    const [label = '', ...more] = key.place
    if (more.length > 0 || label.startsWith('agent:')) return
    for (const kind of KINDS) {
      for (const { name } of this.#core.catalog.entries(kind)) {
        const inner = { ...key, place: [`${kind}:${name}`] }
        await this.#calls.endInner(sessionAddressOf(inner), inner)
      }
    }
  }

  async #askPlugins(what: Forgetting): Promise<boolean> {
    let hasFound = false
    for (const { forget } of this.#core.mounted) if (await forget?.(what)) hasFound = true
    return hasFound
  }

  /** Stops the running runs. Throws `session_busy` unless `cancels`. */
  async #stopRuns(owner: string | null, query: Partial<RunQuery>, cancels: boolean): Promise<void> {
    await this.#forEach(owner, { ...query, status: 'running' }, async ({ id }) => {
      if (!cancels) throw stillAtWork()
      await this.#stop(id, owner)
      return false
    })
  }

  /** Deletes ended runs, and running runs that `mayGo` has stopped. */
  #forgetRuns(
    owner: string | null,
    query: Partial<RunQuery>,
    mayGo: (run: RunSummary) => Promise<boolean>,
  ): Promise<boolean> {
    return this.#forEach(owner, query, async run => {
      // The queue's plugin deletes queued runs.
      if (run.status === 'queued') return false
      if (run.status === 'running' && !(await mayGo(run))) return false
      return unlessGone(this.#core.host.delete(run.id, owner))
    })
  }

  /** Calls `work` for each run. Returns whether it returned true for any. */
  async #forEach(
    owner: string | null,
    query: Partial<RunQuery>,
    work: (run: RunSummary) => Promise<boolean>,
  ): Promise<boolean> {
    let hasFound = false
    let cursor: string | undefined
    do {
      const { runs, nextCursor } = await this.#core.host.list(owner, { ...query, cursor, limit: PAGE })
      // Runs with a claimed `userId` do not belong to the runs without an owner.
      const own = owner === null ? runs.filter(({ userId }) => userId === undefined) : runs
      for (let from = 0; from < own.length; from += AT_ONCE) {
        const found = await Promise.all(own.slice(from, from + AT_ONCE).map(work))
        if (found.includes(true)) hasFound = true
      }
      cursor = nextCursor ?? undefined
    } while (cursor !== undefined)
    return hasFound
  }

  /**
   * Whether a run began before the deletion. A run that begins later has a new session. A run that continues an earlier one is
   * stopped.
   */
  async #isOfBefore({ id, continuedFrom }: RunSummary, owner: string | null): Promise<boolean> {
    if (continuedFrom !== undefined) await this.#stop(id, owner)
    return continuedFrom !== undefined
  }

  async #isStopped({ id }: RunSummary, owner: string, cancels: boolean): Promise<boolean> {
    if (!cancels) throw stillAtWork()
    await this.#stop(id, owner)
    return true
  }

  /** Cancels a run, unless it has ended. */
  async #stop(id: string, owner: string | null): Promise<void> {
    try {
      await this.#core.host.cancel(id, owner)
    } catch (error) {
      if (!isServableError(error) || !['run_ended', 'run_not_found'].includes(error.code)) throw error
    }
  }
}

/** False if someone else has deleted the run. */
async function unlessGone(deleted: Promise<void>): Promise<boolean> {
  try {
    await deleted
    return true
  } catch (error) {
    if (isServableError(error) && error.code === 'run_not_found') return false
    throw error
  }
}

/** Runs to read at once, and runs to delete at the same time. */
const PAGE = 100
const AT_ONCE = 10

/** Milliseconds to wait for stopped runs, between two checks of them, and between two renewals of the claim. */
const PATIENCE_MS = 30_000
const LOOK_MS = 500
const RENEW_MS = 4000

/** How often the data of an owner is searched. Each round finds data that was added during the last one. */
const ROUNDS = 10
