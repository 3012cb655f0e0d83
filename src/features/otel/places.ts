/**
 * Places in traces: the text of W3C Trace Context and the span contexts of OpenTelemetry.
 *
 * @module
 */

import {
  type Context,
  context,
  isSpanContextValid,
  type Link,
  type Span,
  type SpanContext,
  trace,
} from '@opentelemetry/api'

/** The place that a `traceparent` of version 00 names; undefined for what is none. */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = traceparent?.split('-') ?? []
  const place = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(place) ? place : undefined
}

/** The `traceparent` of a span; undefined where there is nothing to trace. */
export function traceparentOf(span: Span): string | undefined {
  const place = span.spanContext()
  if (!isSpanContextValid(place)) return undefined
  return `00-${place.traceId}-${place.spanId}-${place.traceFlags.toString(16).padStart(2, '0')}`
}

/** What a run is inside of: the span that is active where it starts, else that of the client. */
export function parentOf(traceparent: string | undefined): Context {
  return traceContext(trace.getActiveSpan() ? undefined : traceparent)
}

/**
 * The context of OpenTelemetry for what an agent or a tool does itself: spans that begin in it are inside of that of the run or of the tool
 * call. `traceparent` is that of the agent's or the tool's context. Without one it is the active context.
 *
 * @example
 * tracer.startActiveSpan('look up', {}, traceContext(traceparent), span => …)
 */
export function traceContext(traceparent: string | undefined): Context {
  const place = spanContextOf(traceparent)
  return place === undefined ? context.active() : trace.setSpanContext(context.active(), place)
}

/** The link to another span, where its place is known. */
export function linksTo(traceparent: string | undefined): Link[] {
  const place = spanContextOf(traceparent)
  return place === undefined ? [] : [{ context: place }]
}
