/**
 * Traces and metrics of runs for OpenTelemetry, as a plugin: the entry `servable/otel`.
 *
 * Begin with `run-spans.ts` (the spans of one run). May import `core` and what is below it, and no other feature.
 *
 * @module
 */

import type { Meter, Tracer } from '@opentelemetry/api'
import * as v from 'valibot'
import { keepAlive } from '../../base/environment.ts'
import { checkOptions, flag, func, isFunction } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'
import { Measures } from './measures.ts'
import { RunSpans } from './run-spans.ts'

export { SCHEMA_URL } from './conventions.ts'
export { traceContext } from './trace-context.ts'

/** The destinations of traces and metrics. */
export interface OtelOptions {
  /** Starts the spans: `provider.getTracer('my-service', '1.0.0', { schemaUrl: SCHEMA_URL })`. */
  readonly tracer: Tracer
  /** Makes the histograms. Default: no metrics. */
  readonly meter?: Meter | undefined
  /**
   * Records contents in spans: the message and the answer of a run, arguments and results of tools, and texts of errors. Each is
   * cut after 32,768 characters. Files and keys of providers are left out. Default: false.
   */
  readonly contents?: boolean | undefined
  /**
   * Exports collected data. It is called after each run, and keeps a Worker alive until it is done. Give it on Workers: `() =>
   * provider.forceFlush()`. Elsewhere the processors of the SDK export by themselves. Default: nothing.
   */
  readonly flush?: (() => Promise<unknown>) | undefined
}

const OptionsSchema = v.strictObject({
  tracer: v.custom<Tracer>(
    value => isFunction(Object(value).startSpan),
    'must be a Tracer: provider.getTracer(name)',
  ),
  meter: v.optional(
    v.custom<Meter>(
      value => isFunction(Object(value).createHistogram),
      'must be a Meter: provider.getMeter(name)',
    ),
  ),
  contents: v.optional(flag),
  flush: v.optional(func),
})

/**
 * Traces every run with the semantic conventions for generative AI of OpenTelemetry ({@link SCHEMA_URL}), and measures it. Calls
 * of a run carry its `traceparent` (W3C Trace Context, level 1). Throws `invalid_options`.
 */
export function otel(options: OtelOptions): Plugin {
  checkOptions('otel', OptionsSchema, options)
  const { tracer, meter, contents = false, flush } = options
  let log: Log | undefined
  const send = async () => {
    try {
      await flush?.()
    } catch (error) {
      if (log !== undefined) logThrown(log, { event: 'traces.failed' }, error)
    }
  }
  const onEnd = () => {
    if (flush !== undefined) keepAlive(send())
  }
  const tracing = { tracer, contents, onEnd, measures: meter && new Measures(meter) }
  return asPlugin({
    name: 'otel',
    observer: { start: run => new RunSpans(tracing, run) },
    mount(core) {
      log = core.log
      return { close: send }
    },
  })
}
