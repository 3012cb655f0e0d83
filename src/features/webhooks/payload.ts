/**
 * What subscribers are told of a run.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { RunOutcome } from '../../runs/notices.ts'
import type { RunStatus, StoredRun } from '../../runs/stored/record.ts'
import type { WebhookEventType } from './options.ts'

/** A run as subscribers hear of it. */
export interface WebhookRun {
  readonly runId: string
  readonly kind: Kind
  readonly name: string
  readonly status: RunStatus
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  readonly finishReason?: string | undefined
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  /** The run whose requests were answered for this one. */
  readonly continuedFrom?: string | undefined
  /** Its owner may let it go on. */
  readonly resumable?: true | undefined
  /** Why it failed. */
  readonly error?: { readonly code: string; readonly message: string } | undefined
}

/** The payload of a webhook (Standard Webhooks 1.0.0, payload structure). */
export interface WebhookPayload {
  readonly type: WebhookEventType | 'webhook.test'
  /** When it happened. ISO 8601, in UTC. */
  readonly timestamp: string
  readonly data: Partial<WebhookRun & RunOutcome> & {
    /** The identity whose run it is, for subscriptions of the deployment. */
    readonly owner?: string | null | undefined
    /** What the run said was too long for a payload. */
    readonly truncated?: true | undefined
  }
}

/** What has happened to a run, before it is known who is told. JSON. */
export interface RunNotice {
  readonly type: WebhookEventType
  readonly owner: string | null
  readonly timestamp: string
  readonly run: WebhookRun
  /** What the run said or asks, if it is not too long. */
  readonly contents?: RunOutcome | undefined
  /** The receiver that the run itself names. */
  readonly url?: string | undefined
}

/** Most characters of JSON of what a run said, in a payload. */
const MAX_CONTENTS = 65_536

/** Most characters of the text of an error in a payload. */
const MAX_MESSAGE = 1000

/** The type of the event by which a run comes to a status; undefined while it waits for a place or is at work. */
export function eventOf(status: RunStatus): WebhookEventType | undefined {
  return status === 'queued' || status === 'running' ? undefined : `run.${status}`
}

/** What has happened to a run. */
export function noticeOf(
  type: WebhookEventType,
  { record, owner, webhook }: StoredRun,
  outcome: RunOutcome | undefined,
): RunNotice {
  const { id: runId, kind, name, status, createdAt, updatedAt: timestamp } = record
  const { finishReason, sessionId, userId, continuedFrom, resumable, error } = record
  const run: WebhookRun = {
    ...{ runId, kind, name, status, createdAt, finishReason, sessionId, userId, continuedFrom, resumable },
    ...(error && { error: { code: error.code, message: error.message.slice(0, MAX_MESSAGE) } }),
  }
  const isShort = outcome !== undefined && JSON.stringify(outcome).length <= MAX_CONTENTS
  return { type, owner, timestamp, run, url: webhook?.url, ...(isShort && { contents: outcome }) }
}

/** The body for a subscriber. */
export function bodyOf(
  { type, owner, timestamp, run, contents }: RunNotice,
  to: { readonly contents?: boolean | undefined; readonly hearsOwner: boolean },
): string {
  const payload: WebhookPayload = {
    type,
    timestamp,
    data: {
      ...run,
      ...(to.hearsOwner && { owner }),
      ...(to.contents && (contents ?? { truncated: true })),
    },
  }
  return JSON.stringify(payload)
}

/** The body of a test. */
export function testBody(now: number): string {
  const payload: WebhookPayload = { type: 'webhook.test', timestamp: new Date(now).toISOString(), data: {} }
  return JSON.stringify(payload)
}
