/**
 * The payloads for subscribers.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { NoticeDetails } from '../../runs/notices.ts'
import type { RunStatus, StoredRun } from '../../runs/stored/record.ts'
import type { WebhookEventType } from './options.ts'

/** A run in a payload. */
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
  /** Whether its owner may resume it. */
  readonly resumable?: true | undefined
  /** Why it failed. */
  readonly error?: { readonly code: string; readonly message: string } | undefined
}

/** The payload of a webhook (Standard Webhooks 1.0.0, payload structure). */
export interface WebhookPayload {
  readonly type: WebhookEventType | 'webhook.test'
  /** When it happened. ISO 8601, in UTC. */
  readonly timestamp: string
  readonly data: Partial<WebhookRun & NoticeDetails> & {
    /** The owner of the run, only for subscriptions of the deployment. */
    readonly owner?: string | null | undefined
    /** The output of the run was too long for a payload. */
    readonly truncated?: true | undefined
  }
}

/** An event of a run, before it is matched with subscribers. JSON. */
export interface RunNotice {
  readonly type: WebhookEventType
  readonly owner: string | null
  readonly timestamp: string
  readonly run: WebhookRun
  /** The output or requests of the run, if short enough. */
  readonly contents?: NoticeDetails | undefined
  /** The receiver that the run names. */
  readonly url?: string | undefined
}

/** Most characters of a run's output in a payload, as JSON. */
const MAX_CONTENTS = 65_536

/** Most characters of the text of an error in a payload. */
const MAX_MESSAGE = 1000

/** The event for a run's new status. Undefined while it is queued or running. */
export function eventOf(status: RunStatus): WebhookEventType | undefined {
  return status === 'queued' || status === 'running' ? undefined : `run.${status}`
}

/** Makes the notice about a run. */
export function noticeOf(
  type: WebhookEventType,
  { record, owner, webhook }: StoredRun,
  outcome: NoticeDetails | undefined,
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
  to: { readonly contents?: boolean | undefined; readonly includesOwner: boolean },
): string {
  const payload: WebhookPayload = {
    type,
    timestamp,
    data: {
      ...run,
      ...(to.includesOwner && { owner }),
      ...(to.contents && (contents ?? { truncated: true })),
    },
  }
  return JSON.stringify(payload)
}

/** The body of a test delivery. */
export function testBody(now: number): string {
  const payload: WebhookPayload = { type: 'webhook.test', timestamp: new Date(now).toISOString(), data: {} }
  return JSON.stringify(payload)
}
