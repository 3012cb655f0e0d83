/** Corrections that people make to an agent's output. */

/** A correction, as a client sends it: at most 65,536 bytes of JSON. Texts are not empty. */
export interface CorrectionInput {
  /**
   * What the agent was asked: any JSON. With it the correction is a case for tests: it is in the export of cases, and no model is told of
   * it. The corrected value may then be the original one.
   */
  readonly input?: unknown
  /** The agent's output: any JSON. */
  readonly originalValue: unknown
  /** What the output should have been: any JSON. */
  readonly correctedValue: unknown
  /** Which part of the output it is about. At most 500 characters. */
  readonly field?: string | undefined
  /** Why. At most 10,000 characters. */
  readonly reason?: string | undefined
  /** What the output is about, as a key of your own. At most 500 characters. */
  readonly entityKey?: string | undefined
  /** The run that gave the output. At most 500 characters; not checked. */
  readonly runId?: string | undefined
  /** The session of that run. At most 500 characters; not checked. */
  readonly sessionId?: string | undefined
  /** Who corrects: the authenticated user, or else whom the client claims to be. At most 500 characters. */
  readonly userId?: string | undefined
  /** Where it applies, in words of your own. At most 500 characters. */
  readonly scope?: string | undefined
  /** At most 50, each of at most 100 characters. */
  readonly tags?: readonly string[] | undefined
}

/** A correction as it is stored. */
export interface Correction extends CorrectionInput {
  /** A UUID. */
  readonly id: string
  /** The name under which the agent was reached. */
  readonly agent: string
  /** ISO 8601, in UTC. */
  readonly createdAt: string
}

/** A correction with an `input`, as the export of cases has it. */
export interface Case
  extends Pick<Correction, 'id' | 'field' | 'entityKey' | 'tags' | 'runId' | 'sessionId' | 'createdAt'> {
  readonly input: unknown
  /** The agent's output. */
  readonly output: unknown
  /** What the output should have been. */
  readonly expected: unknown
  /** The reason of the correction. */
  readonly note?: string | undefined
}

/** Which corrections to list. */
export interface CorrectionQuery {
  /** The name of the agent. */
  readonly agent: string
  /** The owner of the corrections; null without an identity. */
  readonly owner: string | null
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined
  /** The most corrections of the page: 1 to 100. Default over HTTP: 50. */
  readonly limit: number
}

/** A page of corrections, newest first. It may be short or empty and yet have a next one. */
export interface CorrectionPage {
  readonly corrections: readonly Correction[]
  /** The cursor of the next page; null only at the end. */
  readonly nextCursor: string | null
}

/** An agent's own store of corrections. */
export interface CorrectionStore {
  /** Stores a correction. `owner` is its owner; null without an identity. */
  add(correction: Correction, owner: string | null): void | Promise<void>
  /** Without it corrections cannot be listed: `GET` answers `not_found`. */
  list?(query: CorrectionQuery): CorrectionPage | Promise<CorrectionPage>
}
