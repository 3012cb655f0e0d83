/**
 * Converts between W3C Trace Context and the span contexts of OpenTelemetry.
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

/** The span context of a `traceparent` of version 00. Undefined if it is not valid. */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = traceparent?.split('-') ?? []
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(spanContext) ? spanContext : undefined
}

/** The `traceparent` of a span. Undefined if nothing is traced. */
export function traceparentOf(span: Span): string | undefined {
  const spanContext = span.spanContext()
  if (!isSpanContextValid(spanContext)) return undefined
  return `00-${spanContext.traceId}-${spanContext.spanId}-${spanContext.traceFlags.toString(16).padStart(2, '0')}`
}

/** The parent of a run: the active span at its start, else that of the client. */
export function parentOf(traceparent: string | undefined): Context {
  return traceContext(trace.getActiveSpan() ? undefined : traceparent)
}

/**
 * The OpenTelemetry context for the work of an agent or a tool. Spans that begin in it are children of the span of the run or of
 * the tool call. `traceparent` is that of the agent's or the tool's context. Without one it is the active context.
 *
 * @example
 * tracer.startActiveSpan('look up', {}, traceContext(traceparent), span => …)
 */
export function traceContext(traceparent: string | undefined): Context {
  const spanContext = spanContextOf(traceparent)
  return spanContext === undefined ? context.active() : trace.setSpanContext(context.active(), spanContext)
}

/** The link to another span, if its context is known. */
export function linksTo(traceparent: string | undefined): Link[] {
  const spanContext = spanContextOf(traceparent)
  return spanContext === undefined ? [] : [{ context: spanContext }]
}
