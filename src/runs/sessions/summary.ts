/** Sessions in lists. */

import type { Kind } from '../../agents/run-types.ts'

/** A session, as its owner sees it. */
export interface SessionSummary {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  /** The title that was set, or the beginning of the first message. */
  readonly title: string | null
  /** The beginning of the last message of either side. */
  readonly lastMessage: string | null
  /** Number of turns so far. The oldest may be deleted. */
  readonly count: number
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  /** The time of the last begin or end of a turn. */
  readonly updatedAt: string
  /** Present while a run of the session is running. Lists on Durable Objects do not have it. */
  readonly isRunning?: true
}

/** A page of sessions, newest first. It may be short or even empty although there is a next page. */
export interface SessionPage {
  readonly sessions: readonly SessionSummary[]
  /** The cursor of the next page. Null only at the end. */
  readonly nextCursor: string | null
}

/** Which sessions to list. */
export interface SessionQuery {
  readonly kind?: Kind | undefined
  readonly name?: string | undefined
  /** Only sessions whose title contains this. 1 to 200 characters. */
  readonly search?: string | undefined
  /** The cursor from an earlier page. */
  readonly cursor?: string | undefined
  /** 1 to 100. */
  readonly limit: number
}
