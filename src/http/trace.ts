/** Trace context (W3C Trace Context, level 1, section 3.2): the span of a request in a distributed trace. */

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-|$)/

/**
 * The trace and the span of the caller, in the form of version 00. Undefined if there is none, or it is malformed. It names no
 * span of this service: a span that nobody records would break the trace in two.
 */
export function continueTrace(traceparent: string | null): string | undefined {
  const [, context] = TRACEPARENT.exec(traceparent ?? '') ?? []
  return context && `00-${context}`
}

/** The id of a trace. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}
