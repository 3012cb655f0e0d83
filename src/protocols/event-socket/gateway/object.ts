/**
 * The gateway's services in objects: the record of a socket, and the server of sockets.
 *
 * @module
 */

import type {
  ObjectContext,
  ObjectService,
  Reach,
  SocketObjectContext,
  SocketService,
} from '../../../core/hosted.ts'
import { objectServiceOf } from '../../../core/object-service.ts'
import { type Calls, objectCalls, type Transactions } from '../../../core/transaction-calls.ts'
import type { RunHost } from '../../../runs/stored/host.ts'
import type { Transaction } from '../../../stores/store.ts'
import type { SocketEndpoint } from '../socket/engine/engine.ts'
import { SHARD_HEADER } from './forwarded.ts'
import type { GatewayParts } from './gateway.ts'
import { HIBERNATING, Hibernation, type HibernationOptions } from './hibernation.ts'
import {
  addRun,
  cancelRuns,
  expireRecord,
  type NumberedRun,
  SOCKETS,
  type SocketRecord,
  type SocketRecords,
  takeRecord,
} from './records.ts'

/** The name of the object service of records, which is the plugin's name. */
export const RECORD_SERVICE = 'eventSocket'

/** The transactions of an object with the record of a socket. */
export interface Records extends Transactions {
  readonly writes: {
    /** Stores that the socket has begun a run. Returns false if another connection has taken over the socket. */
    readonly begin: (
      tx: Transaction,
      pid: string,
      socket: Omit<SocketRecord, 'runs'>,
      run: NumberedRun,
      options: { readonly open: readonly number[]; readonly livesMs: number },
    ) => boolean
    readonly take: (
      tx: Transaction,
      pid: string,
      owner: string | null,
      livesMs: number,
    ) => SocketRecord | undefined
    /** Ends the record after `inMs` milliseconds and cancels the socket's runs. */
    readonly expire: (tx: Transaction, pid: string, generation: number, inMs: number) => void
  }
}

/** The transactions of an object with the record of a socket. */
export const RECORDS: Records = {
  expiring: [SOCKETS],
  writes: {
    begin: (tx, pid, socket, run, { open, livesMs }) =>
      addRun(tx, pid, socket, run, { open, expiresAt: tx.now + livesMs }),
    take: (tx, pid, owner, livesMs) => takeRecord(tx, pid, owner, tx.now + livesMs),
    expire: (tx, pid, generation, inMs) => void expireRecord(tx, pid, generation, tx.now + inMs),
  },
}

/**
 * Makes the service that stores the record of a socket. It cancels the socket's runs if the client does not reconnect in time.
 */
export function createRecordObject(
  context: ObjectContext,
  { host }: { readonly host: RunHost },
): ObjectService {
  return objectServiceOf(context, RECORDS, ({ value }) => cancelRuns(host, value as SocketRecord))
}

/** Makes the service of an object with sockets. `open` makes the server with the engine settings for such an object. */
export function createSocketObject(
  context: SocketObjectContext,
  open: (engine: NonNullable<GatewayParts['engine']>) => SocketEndpoint,
  options: HibernationOptions,
): SocketService {
  const server = open({
    ...HIBERNATING,
    // The session id begins with the object's number, so that polling requests reach the object.
    generateId: ({ headers }) => `${headers[SHARD_HEADER] ?? ''}.${crypto.randomUUID()}`,
    headers: ['authorization', 'cookie', 'origin', 'user-agent', SHARD_HEADER],
  })
  return new Hibernation(context, server, options)
}

/** What the records need. */
interface RecordOptions {
  /** Milliseconds that a client may be away. */
  readonly maxMs: number
  /** Most milliseconds of a run. */
  readonly timeoutMs: number
}

/** Stores the records by calls of {@link RECORDS}. With Durable Objects each record is in an object of its own. */
export function createRecords(calls: Calls<Records>, { maxMs, timeoutMs }: RecordOptions): SocketRecords {
  const addressOf = (pid: string) => `socket:${pid}`
  // The runs have ended by then, and no client can reconnect to them.
  const livesMs = timeoutMs + maxMs
  return {
    begin: (pid, socket, run, open) => calls.begin(addressOf(pid), pid, socket, run, { open, livesMs }),
    take: (pid, owner) => calls.take(addressOf(pid), pid, owner, livesMs),
    away: (pid, generation) => calls.expire(addressOf(pid), pid, generation, maxMs),
    drop: (pid, generation) => calls.expire(addressOf(pid), pid, generation, 0),
  }
}

/** The calls of {@link RECORDS} in objects. */
export function recordCalls(reach: Reach): Calls<Records> {
  return objectCalls((address, service) => reach('index', address, service), RECORD_SERVICE, RECORDS)
}
