import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import { otel, SCHEMA_URL } from '../src/features/otel/plugin.ts'
import type { Plugin } from '../src/index.ts'

/** Variables of OpenTelemetry. */
export interface TraceVariables {
  /** The collector that gets the traces, such as `http://localhost:4318`. */
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  /** `console` shows the traces in the log instead. */
  readonly OTEL_TRACES_EXPORTER?: string | undefined
}

/** The plugin that traces runs, if a variable says where the traces go. */
export function traces({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER }: TraceVariables): Plugin[] {
  const exporter =
    OTEL_TRACES_EXPORTER === 'console'
      ? toLog
      : OTEL_EXPORTER_OTLP_ENDPOINT &&
        new OTLPTraceExporter({ url: `${OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces` })
  if (!exporter) return []
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('servable-examples', undefined, { schemaUrl: SCHEMA_URL })
  return [otel({ tracer, flush: () => provider.forceFlush() })]
}

/** A line for each span. The `ConsoleSpanExporter` of OpenTelemetry shows nothing on Workers. */
const toLog: SpanExporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext()
      const ms = span.duration[0] * 1000 + span.duration[1] / 1e6
      const parent = span.parentSpanContext?.spanId ?? 'none'
      console.log(`span  ${span.name}  ${ms.toFixed(1)} ms  trace=${traceId} span=${spanId} parent=${parent}`)
    }
    done({ code: 0 })
  },
  async forceFlush() {},
  async shutdown() {},
}
