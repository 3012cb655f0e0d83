/**
 * The types of a gateway session's parts: those that all sessions share, and its client.
 *
 * @module
 */

import type { Catalog } from '../../../http/catalog.ts'
import type { AnswerRun } from '../../../http/runs/go-on.ts'
import type { StartRun } from '../../../http/runs/start-run.ts'
import type { KeyReader } from '../../../http/security/key-headers.ts'
import type { HostSettings, RunHost } from '../../../runs/stored/host.ts'
import type { GatewayLimits } from './options.ts'
import type { RateLimit } from './rate-limit.ts'
import type { SocketRecords } from './records.ts'
import type { SessionData } from './session-data.ts'

/** Reports an error, with the request id of the client and the texts that must not be logged. */
export type OnSocketError = (error: unknown, requestId?: string, secrets?: readonly string[]) => void

/** The parts that all sessions of a gateway share. */
export interface GatewayContext {
  readonly catalog: Catalog
  readonly runs: HostSettings
  readonly host: RunHost
  readonly readKeys: KeyReader
  readonly startRun: StartRun
  readonly answerRun: AnswerRun
  readonly limits: Required<GatewayLimits>
  /** Undefined if clients cannot reconnect. */
  readonly records: SocketRecords | undefined
  /** Is called with errors that do not belong to a run. */
  readonly onError: OnSocketError
}

/** The client's end of a session. */
export interface Peer {
  /** Sends an event, with the position of the event in the socket if clients can reconnect. */
  send(event: string, payload: object, position: string | undefined): void
  readonly isCongested: boolean
  /** Is called when the {@link SessionData} of the session has changed. */
  touch(): void
}

/** The connection of a client. All its sessions share one rate of events. */
export interface SessionConnection {
  readonly ip: string | undefined
  readonly rate: RateLimit
  /** Texts of the handshake that must not be logged. */
  readonly secrets: () => readonly string[]
}
