/**
 * The gateway's keepers in objects: the record of a socket, and the server of sockets.
 *
 * @module
 */

import type { ObjectService, Seat, SocketSeat, SocketService } from '../../../core/hosted.ts'
import { objectServiceOf } from '../../../core/object-service.ts'
import type { Transactions } from '../../../core/transaction-calls.ts'
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
  takeRecord,
} from './records.ts'

/** The name of the keeper of records, which is the plugin's name. */
export const RECORD_KEEPER = 'eventSocket'

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

/** Keeps the record of a socket. Cancels its runs if the client does not come back in time. */
export function createRecordObject(seat: Seat, { host }: { readonly host: RunHost }): ObjectService {
  return objectServiceOf(seat, RECORDS, ({ value }) => cancelRuns(host, value as SocketRecord))
}

/** Makes the keeper of an object with sockets. `open` makes the server with the engine settings for such an object. */
export function createSocketObject(
  seat: SocketSeat,
  open: (engine: NonNullable<GatewayParts['engine']>) => SocketEndpoint,
  options: HibernationOptions,
): SocketService {
  const server = open({
    ...HIBERNATING,
    // The session id begins with the object's number, so that polling requests reach the object.
    generateId: ({ headers }) => `${headers[SHARD_HEADER] ?? ''}.${crypto.randomUUID()}`,
    headers: ['authorization', 'cookie', 'origin', 'user-agent', SHARD_HEADER],
  })
  return new Hibernation(seat, server, options)
}
