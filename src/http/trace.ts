/** Trace context (W3C Trace Context, level 1, section 3.2): a request's place in a distributed trace. */

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-|$)/

/** Continues a trace: the same trace, a span of its own. Undefined where there is none, or it is malformed. */
export function continueTrace(traceparent: string | null): string | undefined {
  const [, traceId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (traceId === undefined) return undefined
  const span = crypto.randomUUID().replaceAll('-', '').slice(0, 16)
  return `00-${traceId}-${span}-${flags}`
}

/** The id of a trace. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}
