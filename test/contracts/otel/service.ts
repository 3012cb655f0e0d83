/** The service of the contract of traces. Every runtime serves it, with the SDK of OpenTelemetry, and a state of its own. */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { otel, SCHEMA_URL } from '../../../src/features/otel/plugin.ts'
import { Agent, createHandler, type Handler, type State, sequence, Team, tool } from '../../../src/index.ts'
import { identify } from '../identify.ts'

const search = tool({
  name: 'search',
  // What it is told of its place.
  execute: (_, { traceparent }) => ({ traceparent }),
})

const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })

/** Calls a tool and says where it and the tool are in the trace, and the key that it has. */
const finder = new Agent({
  name: 'finder',
  register: false,
  model: { provider: 'openai.responses', id: 'gpt-9' },
  tools: [search],
  async *run(_, { callTool, traceparent, apiKey = 'no key' }) {
    const found = yield* callTool(search, { key: apiKey })
    yield { type: 'model_call', model: 'openai.responses/gpt-9', durationMs: 2, usage: USED }
    yield `${apiKey} `
    yield JSON.stringify({ own: traceparent, tool: (found as { traceparent: string }).traceparent })
    return { usage: USED }
  },
})

const USED = { promptTokens: 5, completionTokens: 7, totalTokens: 12 } as const

const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [pay],
  async *run(_, { callTool }) {
    yield String(yield* callTool(pay, {}))
  },
})

/** Asks for a size. */
const asks = new Agent({
  name: 'asks',
  register: false,
  async *run(_, { ask }) {
    yield `size ${yield* ask('size', { message: 'Which size?' })}`
  },
})

const crew = new Team({ name: 'crew', register: false, members: [finder], strategy: sequence })

/** Collects when it is asked to, so that it needs no timer: a Worker may start none at module level. */
class AskedReader extends MetricReader {
  readonly #exporter: OTLPMetricExporter

  constructor(exporter: OTLPMetricExporter) {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA })
    this.#exporter = exporter
  }

  protected async onForceFlush(): Promise<void> {
    const { resourceMetrics } = await this.collect()
    if (resourceMetrics.scopeMetrics.length === 0) return
    await new Promise<void>(resolve => this.#exporter.export(resourceMetrics, () => resolve()))
  }

  protected async onShutdown(): Promise<void> {}
}

/** Sends to the receiver at `url`. */
export function handlerOn(state: State, url = ''): Handler {
  const traces = new TracerProvider({
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${url}/v1/traces` }) }),
    ],
  })
  const meters = new MeterProvider({
    readers: [new AskedReader(new OTLPMetricExporter({ url: `${url}/v1/metrics` }))],
  })
  return createHandler({
    production: true,
    serve: [finder, pays, asks, crew],
    a2a: { default: 'asks' },
    registry: false,
    state,
    middleware: [identify],
    plugins: [
      otel({
        tracer: traces.getTracer('servable', '1', { schemaUrl: SCHEMA_URL }),
        meter: meters.getMeter('servable', '1', { schemaUrl: SCHEMA_URL }),
        contents: true,
        flush: () => Promise.all([traces.forceFlush(), meters.forceFlush()]),
      }),
    ],
  })
}
