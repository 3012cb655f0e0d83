import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { otel, SCHEMA_URL } from 'servable/otel'

/** Sends traces to a collector, such as `https://collector.example.com`. */
export function tracesTo(collector: string) {
  const exporter = new OTLPTraceExporter({ url: `${collector}/v1/traces` })
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('worker-with-everything', undefined, { schemaUrl: SCHEMA_URL })
  return otel({ tracer, flush: () => provider.forceFlush() })
}
