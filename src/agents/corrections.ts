/** What a person has put right in an agent's output. */

/** A correction, as a client sends it. */
export interface CorrectionInput {
  /** What the agent said; any JSON. */
  readonly originalValue: unknown
  /** What it should have said. */
  readonly correctedValue: unknown
  /** Which part of the output it is about. */
  readonly field?: string | undefined
  readonly reason?: string | undefined
  /** What the output is about, in the words of the deployment. */
  readonly entityKey?: string | undefined
  readonly runId?: string | undefined
  readonly sessionId?: string | undefined
  /** Who corrects: the identity that middleware set, else what the client claims. */
  readonly userId?: string | undefined
  /** Where it is to hold. */
  readonly scope?: string | undefined
  readonly tags?: readonly string[] | undefined
}

/** A correction, as it is kept. */
export interface Correction extends CorrectionInput {
  readonly id: string
  /** The name under which the agent was reached. */
  readonly agent: string
  /** ISO 8601, in UTC. */
  readonly createdAt: string
}

/** Which corrections to list. */
export interface CorrectionQuery {
  readonly agent: string
  /** Whose; null where there is no identity. */
  readonly owner: string | null
  /** From a page before. */
  readonly cursor?: string | undefined
  /** 1 to 100. */
  readonly limit: number
}

/** A page of corrections, newest first. It may be short or empty and yet have a next one. */
export interface CorrectionPage {
  readonly corrections: readonly Correction[]
  /** Gives the next page; null at the end, and only there. */
  readonly nextCursor: string | null
}

/** An agent's own place for corrections. */
export interface CorrectionStore {
  /** Keeps one. */
  add(correction: Correction, owner: string | null): void | Promise<void>
  /** Without it they cannot be listed. */
  list?(query: CorrectionQuery): CorrectionPage | Promise<CorrectionPage>
}
