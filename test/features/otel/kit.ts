/** Handlers whose runs are traced by the SDK of OpenTelemetry, in memory. */
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { type OtelOptions, otel, SCHEMA_URL } from '../../../src/features/otel/plugin.ts'
import { createHandler, type HandlerOptions, memoryState, type Servable } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

/** A span of the client, as its `traceparent`. */
export const CLIENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' } as const
export const TRACEPARENT: string = `00-${CLIENT.traceId}-${CLIENT.spanId}-01`

/** What a histogram or a counter has counted for some attributes. */
export interface Series {
  readonly name: string
  readonly unit: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly count: number
  readonly sum: number
  readonly boundaries: readonly number[]
}

/** A handler that traces, and what it has traced. */
export function traced(
  serve: readonly Servable[],
  { otel: more, ...options }: HandlerOptions & { otel?: Partial<OtelOptions> } = {},
) {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 30,
  })
  const meters = new MeterProvider({ readers: [reader] })
  const plugin = otel({
    tracer: provider.getTracer('test', '1', { schemaUrl: SCHEMA_URL }),
    meter: meters.getMeter('test'),
    ...more,
  })
  const handler = createHandler({
    serve,
    registry: false,
    state: memoryState(),
    plugins: [plugin],
    ...options,
  })
  return {
    handler,
    /** Asks for a run and reads all of its answer. */
    async run(path: string, body: object, headers: Record<string, string> = {}) {
      const response = await handler(
        new Request(`http://localhost/api/${path}/run`, jsonRequest(body, headers)),
      )
      const answer = await response.json()
      await provider.forceFlush()
      return answer
    },
    /** The spans that have ended, in the order of their ends. */
    spans: () => exporter.getFinishedSpans(),
    span(name: string): ReadableSpan {
      const found = exporter.getFinishedSpans().filter(span => span.name === name)
      if (found.length !== 1)
        throw new Error(
          `${found.length} spans ${name} of ${exporter.getFinishedSpans().map(each => each.name)}`,
        )
      return found[0]!
    },
    /** The names of all spans as a tree, each with those inside of it. */
    tree: () => treeOf(exporter.getFinishedSpans()),
    async series(): Promise<Series[]> {
      await meters.forceFlush()
      const metrics =
        metricExporter
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap(scope => scope.metrics) ?? []
      return metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => {
          const { name, unit } = descriptor
          // A counter has its sum alone.
          if (typeof value === 'number')
            return { name, unit, attributes, count: 1, sum: value, boundaries: [] }
          const { count, sum = 0, buckets } = value as Histogram
          return { name, unit, attributes, count, sum, boundaries: buckets.boundaries }
        }),
      )
    },
  }
}

/** A span by its name, with those inside of it in the order of their starts. */
export interface Tree {
  readonly [name: string]: Tree
}

function treeOf(spans: readonly ReadableSpan[]): Tree {
  const ids = new Set(spans.map(span => span.spanContext().spanId))
  const sorted = spans.toSorted((one, other) => timeOf(one) - timeOf(other))
  const inside = (parent: string | undefined): Tree =>
    Object.fromEntries(
      sorted
        .filter(({ parentSpanContext: { spanId } = {} }) =>
          parent === undefined ? spanId === undefined || !ids.has(spanId) : spanId === parent,
        )
        .map(span => [span.name, inside(span.spanContext().spanId)]),
    )
  return inside(undefined)
}

function timeOf({ startTime: [seconds, nanoseconds] }: ReadableSpan): number {
  return seconds * 1e3 + nanoseconds / 1e6
}
