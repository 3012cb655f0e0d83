/**
 * The Durable Object that lists one owner's runs, or holds one idempotency key, or the record of one socket.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { listTasks, type StoredPage } from '../../a2a/list-tasks.ts'
import { makeRoom } from '../../a2a/make-room.ts'
import type { ListRequest } from '../../a2a/model.ts'
import { AT_WORK, type StoredTask, TASKS, toDocument as toTaskDocument } from '../../a2a/task-record.ts'
import { TOOL_SERVERS } from '../../admin/kept.ts'
import type { Correction, CorrectionPage, CorrectionQuery } from '../../agents/corrections.ts'
import type { SessionKey } from '../../agents/memory.ts'
import {
  addRun,
  cancelRuns,
  expireRecord,
  type NumberedRun,
  SOCKETS,
  type SocketRecord,
  takeExpired,
  takeRecord,
} from '../../gateway/records.ts'
import { addCorrection, CORRECTIONS, listCorrections } from '../../http/corrections.ts'
import { countInStore, WINDOWS, type Window } from '../../http/rate-limit.ts'
import { reserveKey, takePlace, useOfKey } from '../../runs/admission.ts'
import { decodeCursor } from '../../runs/cursor.ts'
import type { IdempotencyKey, RunPage, RunQuery, Viewer } from '../../runs/host.ts'
import { listRuns } from '../../runs/list.ts'
import { idsOf, KEYS, partitionOf, RUNNING, RUNS, type StoredRun, toDocument } from '../../runs/record.ts'
import { appendSession, readSession, SESSIONS, type SessionSettings } from '../../runs/sessions.ts'
import { openToolServers, type Service } from '../../service.ts'
import { Alarm } from './alarm.ts'
import { type AdmittedTask, findBindings } from './bindings.ts'
import { createDurableHost } from './durable-host.ts'
import { ToolServerKeeper, type ToolServerRequest } from './durable-tool-servers.ts'
import { admitListed, fillPlaces, workExpiry } from './places.ts'
import type { ObjectClass, ObjectState } from './platform.ts'
import { type Answer, type Answerer, answering } from './rpc.ts'
import { type ObjectStore, objectStore } from './sql.ts'

/** Makes the class, bounded by what `service` gives. */
export function indexObjectClass(service: () => Service): ObjectClass {
  return class ServableIndex extends DurableObject {
    /** One that rings early looks, and is set anew. */
    readonly #alarm: Alarm
    readonly #store: ObjectStore
    readonly #answer: Answerer = answering(() => service().settings.log)
    #toolServers: ToolServerKeeper | undefined
    /** Places of runs at work are counted in memory; the list knows which those are that an earlier memory counted. */
    #hasPlaces = false

    constructor(state: ObjectState, env: unknown) {
      // The base class is typed by the runtime's own types where a user has them.
      super(state as never, env as never)
      this.#alarm = new Alarm(state.storage)
      this.#store = objectStore(state.storage, { passing: [RUNNING] })
    }

    admit(run: StoredRun, client: string, shares = 1): Promise<Answer<void>> {
      return this.#answer(() => {
        const { runs } = service()
        const bounds = { ...runs, maxRunning: Math.max(1, Math.floor(runs.maxRunning / shares)) }
        if (!this.#hasPlaces) this.#store.transact(tx => fillPlaces(tx, partitionOf(run.owner), runs))
        this.#hasPlaces = true
        this.#store.transact(tx => {
          if (tx.get(RUNS, run.record.id) === undefined) admitListed(tx, run, client, bounds)
        })
      })
    }

    async update(run: StoredRun, expiresAt: number | undefined): Promise<void> {
      this.#store.transact(tx => {
        tx.put(RUNS, toDocument(run, expiresAt))
        tx.delete(RUNNING, run.record.id)
      })
    }

    async remove(id: string): Promise<void> {
      this.#store.transact(tx => {
        tx.delete(RUNS, id)
        tx.delete(RUNNING, id)
      })
    }

    list(owner: Viewer, query: RunQuery): Promise<Answer<RunPage>> {
      return this.#answer(() => {
        if (query.cursor !== undefined) decodeCursor(query.cursor)
        if (this.#store.isEmpty()) return { runs: [], nextCursor: null }
        return this.#store.transact(tx => listRuns(tx, owner, query))
      })
    }

    reserve(key: IdempotencyKey, runId: string, expiresAt: number): Promise<Answer<string>> {
      return this.#answer(async () => {
        const use = this.#store.transact(tx => {
          const earlier = useOfKey(tx, key)
          if (earlier === undefined) reserveKey(tx, key, runId, expiresAt)
          return earlier
        })
        if (use === undefined) await this.#alarm.setBy(expiresAt)
        return use?.runId ?? runId
      })
    }

    async idsOf(collection: string, reference: string): Promise<readonly string[]> {
      return this.#store.isEmpty() ? [] : this.#store.transact(tx => idsOf(tx, collection, reference))
    }

    admitTask({ id, owner, client, isNew }: AdmittedTask): Promise<Answer<boolean>> {
      return this.#answer(() => {
        const { tasks } = service()
        return this.#store.transact(tx => {
          // What leaves the list goes on until its own object's time has come.
          if (isNew) makeRoom(tx, partitionOf(owner), tasks.maxTasksPerOwner)
          if (tx.get(AT_WORK, id) !== undefined) return false
          const expiresAt = workExpiry(tasks)
          const place = { id, partition: client, at: Date.now(), tags: {}, value: '', expiresAt }
          takePlace(tx, AT_WORK, place, tasks)
          return true
        })
      })
    }

    async updateTask(task: StoredTask, expiresAt: number | undefined): Promise<void> {
      this.#store.transact(tx => {
        tx.put(TASKS, toTaskDocument(task, expiresAt))
        if (!task.isAtWork) tx.delete(AT_WORK, task.id)
      })
    }

    async restTask(id: string): Promise<void> {
      this.#store.transact(tx => tx.delete(AT_WORK, id))
    }

    async removeTask(id: string): Promise<void> {
      this.#store.transact(tx => {
        tx.delete(TASKS, id)
        tx.delete(AT_WORK, id)
      })
    }

    listTasks(owner: Viewer, request: ListRequest): Promise<Answer<StoredPage>> {
      return this.#answer(() => {
        if (request.pageToken) decodeCursor(request.pageToken)
        if (this.#store.isEmpty()) return { tasks: [], nextPageToken: '', totalSize: 0 }
        return this.#store.transact(tx => listTasks(tx, owner, request))
      })
    }

    async socketBegin(
      pid: string,
      socket: Omit<SocketRecord, 'runs'>,
      run: NumberedRun,
      open: readonly number[],
    ): Promise<boolean> {
      const expiresAt = socketExpiry(service())
      const isOurs = this.#store.transact(tx => addRun(tx, pid, socket, run, { open, expiresAt }))
      if (isOurs) await this.#alarm.setBy(expiresAt)
      return isOurs
    }

    async socketTake(pid: string, owner: string | null): Promise<SocketRecord | undefined> {
      if (this.#store.isEmpty()) return undefined
      const expiresAt = socketExpiry(service())
      const record = this.#store.transact(tx => takeRecord(tx, pid, owner, expiresAt))
      if (record !== undefined) await this.#alarm.setBy(expiresAt)
      return record
    }

    async socketExpire(pid: string, generation: number, inMs: number): Promise<void> {
      if (this.#store.isEmpty()) return
      const expiresAt = Date.now() + inMs
      const isOurs = this.#store.transact(tx => expireRecord(tx, pid, generation, expiresAt))
      if (isOurs) await this.#alarm.setBy(expiresAt + 1)
    }

    async addCorrection(correction: Correction, owner: string | null): Promise<void> {
      this.#store.transact(tx => addCorrection(tx, correction, owner))
    }

    listCorrections(query: CorrectionQuery): Promise<Answer<CorrectionPage>> {
      return this.#answer(() => {
        if (query.cursor !== undefined) decodeCursor(query.cursor)
        if (this.#store.isEmpty()) return { corrections: [], nextCursor: null }
        return this.#store.transact(tx => listCorrections(tx, query))
      })
    }

    async countRequest(client: string, windowMs: number): Promise<Window> {
      const window = this.#store.transact(tx => countInStore(tx, client, windowMs))
      if (window.count === 1) await this.#alarm.setBy(window.endsAt + 1)
      return window
    }

    async readSession(key: SessionKey): Promise<string> {
      if (this.#store.isEmpty()) return '[]'
      return JSON.stringify(this.#store.transact(tx => readSession(tx, key)))
    }

    async appendSession(key: SessionKey, messages: string, settings: SessionSettings): Promise<void> {
      const expiresAt = this.#store.transact(tx => appendSession(tx, key, JSON.parse(messages), settings))
      await this.#alarm.setBy(expiresAt)
    }

    /** What is connected from here lives as long as the object is in memory; what is kept is connected again. */
    toolServers(request: ToolServerRequest): Promise<Answer<unknown>> {
      return this.#answer(() => {
        this.#toolServers ??= new ToolServerKeeper(openToolServers(service().settings, this.#store))
        return this.#toolServers.answer(request)
      })
    }

    async cancelToolCall(callId: string): Promise<void> {
      this.#toolServers?.cancel(callId)
    }

    /** The time of the key has come, of the socket, or of the window. */
    override async alarm(): Promise<void> {
      if (this.#store.isEmpty()) return
      const gone = this.#store.transact(tx => takeExpired(tx, Date.now()))
      const host = createDurableHost(findBindings(), service().runs)
      await Promise.all(gone.map(record => cancelRuns(host, record)))
      const { next, left } = this.#store.transact(tx => {
        for (const { id } of tx.expired(WINDOWS, Date.now(), 100)) tx.delete(WINDOWS, id)
        for (const { id } of tx.expired(KEYS, Date.now(), 100)) tx.delete(KEYS, id)
        for (const { id } of tx.expired(SESSIONS, Date.now(), 100)) tx.delete(SESSIONS, id)
        const soonest = [KEYS, SOCKETS, WINDOWS, SESSIONS].flatMap(name =>
          tx.expired(name, Number.MAX_SAFE_INTEGER, 1),
        )
        const next = soonest.reduce(
          (at, { expiresAt = at }) => Math.min(at, expiresAt),
          Number.POSITIVE_INFINITY,
        )
        return {
          next,
          left:
            tx.count(KEYS) +
            tx.count(RUNS) +
            tx.count(TASKS) +
            tx.count(SOCKETS) +
            tx.count(WINDOWS) +
            tx.count(CORRECTIONS) +
            tx.count(TOOL_SERVERS) +
            tx.count(SESSIONS),
        }
      })
      if (Number.isFinite(next)) await this.#alarm.setTo(next)
      else if (left === 0) await this.#store.clear()
    }
  }
}

/** When the record of a socket that is at work goes: its runs have ended by then, and nobody can come back to them. */
function socketExpiry({ runs, settings }: Service): number {
  return Date.now() + runs.timeoutMs + (settings.gateway?.recoveryMs ?? 0)
}
