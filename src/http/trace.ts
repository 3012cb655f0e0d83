/** Trace context (W3C Trace Context, level 1, section 3.2): a request's place in a distributed trace. */

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-|$)/

/**
 * The trace and the span of whoever asks, in the form of version 00. Undefined where there is none, or it is malformed. It names no span
 * of this service: one that nobody records would part what comes after it from what comes before.
 */
export function continueTrace(traceparent: string | null): string | undefined {
  const [, place] = TRACEPARENT.exec(traceparent ?? '') ?? []
  return place && `00-${place}`
}

/** The id of a trace. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}
