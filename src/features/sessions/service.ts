/**
 * The sessions of a service, as its routes use them.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import { ownerOf, type SessionKey } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { ObjectAddress } from '../../core/hosted.ts'
import { sessionSettingsFor } from '../../core/session-parts.ts'
import type { Calls } from '../../core/transaction-calls.ts'
import type { SettingsFor } from '../../runs/sessions/session-options.ts'
import { idOf } from '../../runs/sessions/session-record.ts'
import { sessionAddressOf } from '../../runs/sessions/session-storage.ts'
import type { SessionPage, SessionQuery, SessionSummary } from '../../runs/sessions/summary.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { BranchRuns, SessionBranch } from './branches.ts'
import {
  SESSION_SERVICE_TRANSACTIONS,
  type SessionServiceTransactions,
  type SessionUpdate,
} from './transactions.ts'
import type { TurnQuery } from './turns.ts'

/** The name of the plugin and of its object service. */
export const NAME = 'sessions'

/** The key of a requested session. `identity` is the caller's; null without one. */
export function keyOf(identity: string | null, kind: Kind, name: string, sessionId: string): SessionKey {
  const owner = ownerOf({ identity: identity ?? undefined }) ?? null
  return { owner, place: [`${kind}:${name}`], sessionId }
}

/** Reads and changes sessions by their keys. */
export class SessionService {
  readonly #calls: Calls<SessionServiceTransactions>
  readonly #settingsFor: SettingsFor
  readonly #files: Core['runs']['files']
  /** Whether each session has an object of its own, so that lists have copies. */
  readonly #isHosted: boolean

  constructor({ callTransactions, settings, runs }: Pick<Core, 'callTransactions' | 'settings' | 'runs'>) {
    this.#calls = callTransactions(NAME, SESSION_SERVICE_TRANSACTIONS)
    this.#settingsFor = sessionSettingsFor(settings)
    this.#files = runs.files
    this.#isHosted = settings.state.kind === 'hosted'
  }

  list(identity: string, query: SessionQuery): Promise<SessionPage> {
    const owner = ownerOf({ identity }) ?? ''
    return this.#calls.list(listOf(identity), owner, query)
  }

  /** Throws `session_not_found`, as all methods with a key do. */
  async get(key: SessionKey): Promise<SessionSummary> {
    return this.#there(key, await this.#calls.find(sessionAddressOf(key), key))
  }

  /** A page of turns, as JSON. */
  async turns(key: SessionKey, query: TurnQuery): Promise<string> {
    return this.#there(key, await this.#calls.turns(sessionAddressOf(key), key, query))
  }

  async make(key: SessionKey, title: string | undefined): Promise<SessionSummary> {
    return this.#changed(
      key,
      await this.#calls.make(sessionAddressOf(key), key, title, this.#settingsFor(key)),
    )
  }

  /** Throws `run_not_found`, `session_busy` and `session_changed` for a head that cannot be. */
  async update(key: SessionKey, update: SessionUpdate): Promise<SessionSummary> {
    return this.#changed(key, await this.#calls.update(sessionAddressOf(key), key, update))
  }

  async branches(key: SessionKey): Promise<readonly SessionBranch[]> {
    return this.#there(key, await this.#calls.branches(sessionAddressOf(key), key))
  }

  /** The runs of a turn and of all after it. Throws `run_not_found`, and `session_busy` if one is at work. */
  async runsOfBranch(key: SessionKey, runId: string): Promise<BranchRuns> {
    return this.#there(key, await this.#calls.runsOfBranch(sessionAddressOf(key), key, runId))
  }

  /** Deletes the turn of a run and all after it. */
  async deleteBranch(key: SessionKey, runId: string): Promise<void> {
    await this.#calls.deleteBranch(sessionAddressOf(key), key, runId)
    await this.tell(key)
  }

  /** Copies the turns of a session, up to that of a run, into a session with another id. `identity` is the caller's. */
  async fork(
    key: SessionKey,
    identity: string | null,
    { runId, title }: { readonly runId?: string | undefined; readonly title?: string | undefined },
  ): Promise<SessionSummary> {
    const copied = await this.#there(key, await this.#calls.copy(sessionAddressOf(key), key, runId))
    const fork = { ...key, sessionId: crypto.randomUUID() }
    // Before the copy is written: a file without references is deleted.
    await this.#files?.share?.(copied, identity, fork)
    const text = title === undefined ? copied : JSON.stringify({ ...JSON.parse(copied), title })
    return this.#changed(
      fork,
      await this.#calls.paste(sessionAddressOf(fork), fork, text, this.#settingsFor(fork)),
    )
  }

  /** Updates the session in its owner's list. */
  async tell(key: SessionKey): Promise<void> {
    if (!this.#isListed(key)) return
    const copy = await this.#calls.tell(sessionAddressOf(key), key)
    if (copy === undefined) await this.takeOff(key)
    else await this.#calls.told(listOfOwner(key.owner), copy)
  }

  /** Removes a deleted session from its owner's list. */
  async takeOff(key: SessionKey): Promise<void> {
    if (this.#isListed(key)) await this.#calls.gone(listOfOwner(key.owner), idOf(key))
  }

  /** Whether a list has a copy of the session: it is in another store, and its owner is not only a claimed `userId`. */
  #isListed(key: SessionKey): key is SessionKey & { readonly owner: string } {
    return this.#isHosted && key.owner !== null && !key.owner.startsWith('/')
  }

  async #changed(key: SessionKey, session: SessionSummary | undefined): Promise<SessionSummary> {
    const found = await this.#there(key, session)
    await this.tell(key)
    return found
  }

  async #there<T>(key: SessionKey, found: T | undefined): Promise<T> {
    if (found !== undefined) return found
    await this.takeOff(key)
    throw new ServableError('session_not_found', 'There is no such session')
  }
}

/** The address of an identity's list. One object lists the identity's runs and sessions. */
export function listOf(identity: string): ObjectAddress {
  return partitionOf(identity)
}

/** The same for the owner of a session. */
function listOfOwner(owner: string): ObjectAddress {
  return listOf(decodeURIComponent(owner))
}
