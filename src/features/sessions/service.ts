/**
 * The sessions of a service, for whoever asks.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { ownerOf } from '../../agents/owner.ts'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import { sessionSettingsFor } from '../../core/core.ts'
import type { ObjectAddress } from '../../core/object-address.ts'
import type { Calls } from '../../core/transaction-calls.ts'
import { idOf } from '../../runs/sessions/session-record.ts'
import type { SettingsFor } from '../../runs/sessions/session-retention.ts'
import { placeOf } from '../../runs/sessions/session-storage.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { SessionPage, SessionQuery, SessionSummary } from './list.ts'
import { SESSION_WORKS, type SessionWorks } from './transactions.ts'
import type { TurnQuery } from './turns.ts'

/** The plugin's name, and that of its keeper in objects. */
export const NAME = 'sessions'

/** The key of a session that is asked for by its id. `identity`: of the caller, null without one. */
export function keyOf(identity: string | null, kind: Kind, name: string, sessionId: string): SessionKey {
  const owner = ownerOf({ identity: identity ?? undefined }) ?? null
  return { owner, place: [`${kind}:${name}`], sessionId }
}

/** See the module's head. */
export class SessionService {
  readonly #calls: Calls<SessionWorks>
  readonly #settingsFor: SettingsFor
  readonly #files: Core['runs']['files']
  /** Each session has an object of its own, and lists have copies. */
  readonly #isHosted: boolean

  constructor({ callTransactions, settings, runs }: Pick<Core, 'callTransactions' | 'settings' | 'runs'>) {
    this.#calls = callTransactions(NAME, SESSION_WORKS)
    this.#settingsFor = sessionSettingsFor(settings)
    this.#files = runs.files
    this.#isHosted = settings.state.kind === 'hosted'
  }

  list(identity: string, query: SessionQuery): Promise<SessionPage> {
    const owner = ownerOf({ identity }) ?? ''
    return this.#calls.list(listOf(identity), owner, query)
  }

  /** Throws `session_not_found`, as all of these do. */
  async get(key: SessionKey): Promise<SessionSummary> {
    return this.#there(key, await this.#calls.find(placeOf(key), key))
  }

  /** A page of turns, as JSON. */
  async turns(key: SessionKey, query: TurnQuery): Promise<string> {
    return this.#there(key, await this.#calls.turns(placeOf(key), key, query))
  }

  async make(key: SessionKey, title: string | undefined): Promise<SessionSummary> {
    return this.#changed(key, await this.#calls.make(placeOf(key), key, title, this.#settingsFor(key)))
  }

  async rename(key: SessionKey, title: string): Promise<SessionSummary> {
    return this.#changed(key, await this.#calls.rename(placeOf(key), key, title))
  }

  /** Copies the turns of a session up to that of a run into one with another id. `identity`: of the caller. */
  async fork(
    key: SessionKey,
    identity: string | null,
    { runId, title }: { readonly runId?: string | undefined; readonly title?: string | undefined },
  ): Promise<SessionSummary> {
    const copied = await this.#there(key, await this.#calls.copy(placeOf(key), key, runId))
    const fork = { ...key, sessionId: crypto.randomUUID() }
    // First: a file that nobody refers to any more is gone.
    await this.#files?.share?.(copied, identity, fork)
    const text = title === undefined ? copied : JSON.stringify({ ...JSON.parse(copied), title })
    return this.#changed(fork, await this.#calls.paste(placeOf(fork), fork, text, this.#settingsFor(fork)))
  }

  /** Tells the list of the session's owner where it stands. */
  async tell(key: SessionKey): Promise<void> {
    if (!this.#isListed(key)) return
    const copy = await this.#calls.tell(placeOf(key), key)
    if (copy === undefined) await this.takeOff(key)
    else await this.#calls.told(listOfOwner(key.owner), copy)
  }

  /** Takes a session that is gone off the list of its owner. */
  async takeOff(key: SessionKey): Promise<void> {
    if (this.#isListed(key)) await this.#calls.gone(listOfOwner(key.owner), idOf(key))
  }

  /** Whether a copy of it is in a list: where it is not in the same store, and of nobody who only claims to be someone. */
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

/** The object that lists the runs of an identity lists the sessions too. */
export function listOf(identity: string): ObjectAddress {
  return partitionOf(identity)
}

/** The same, of the owner of a session. */
function listOfOwner(owner: string): ObjectAddress {
  return listOf(decodeURIComponent(owner))
}
