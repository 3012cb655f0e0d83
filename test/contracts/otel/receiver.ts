/** A receiver of OTLP over HTTP on loopback (OTLP 1.9, "OTLP/HTTP", JSON). */
import { createServer } from 'node:http'
import { listening } from '../../listening.ts'

/** A span as it arrived. */
export interface Received {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly schemaUrl: string
}

/** What a histogram or a counter has counted for some attributes. */
export interface Counted {
  readonly name: string
  readonly count: number
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface Receiver {
  readonly url: string
  readonly spans: Received[]
  readonly counted: Counted[]
  /** All that came, as text. */
  text(): string
  stop(): Promise<void>
}

interface Value {
  readonly stringValue?: string
  readonly intValue?: number | string
  readonly doubleValue?: number
  readonly boolValue?: boolean
  readonly arrayValue?: { readonly values: readonly Value[] }
}

type Attributes = readonly { readonly key: string; readonly value: Value }[]

interface Traces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly schemaUrl: string
      readonly spans: readonly (Omit<Received, 'attributes' | 'links' | 'schemaUrl'> & {
        readonly attributes: Attributes
        readonly links?: Received['links']
      })[]
    }[]
  }[]
}

interface Points {
  readonly dataPoints: readonly { readonly count?: number | string; readonly attributes: Attributes }[]
}

interface Metrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string
        readonly histogram?: Points
        readonly sum?: Points
      }[]
    }[]
  }[]
}

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const bodies: string[] = []
  const spans: Received[] = []
  const counted: Counted[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    bodies.push(body)
    if (request.url === '/v1/traces') spans.push(...spansIn(JSON.parse(body)))
    else counted.push(...countedIn(JSON.parse(body)))
    response.setHeader('content-type', 'application/json').end('{}')
  })
  return {
    ...(await listening(server)),
    spans,
    counted,
    text: () => bodies.join('\n'),
  }
}

/** The spans in the JSON of a request. */
export function spansIn({ resourceSpans }: Traces): Received[] {
  const scopes = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans)
  return scopes.flatMap(({ schemaUrl, spans }) =>
    spans.map(({ traceId, spanId, parentSpanId, name, attributes, links = [] }) => ({
      ...{ traceId, spanId, parentSpanId, name, links, schemaUrl },
      attributes: valuesOf(attributes),
    })),
  )
}

function countedIn({ resourceMetrics }: Metrics): Counted[] {
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(scope => scope.metrics))
  return metrics.flatMap(({ name, histogram, sum }) =>
    (histogram ?? sum)!.dataPoints.map(({ count = 1, attributes }) => ({
      name,
      count: Number(count),
      attributes: valuesOf(attributes),
    })),
  )
}

function valuesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainOf(value)]))
}

function plainOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(plainOf)
  return stringValue ?? doubleValue ?? boolValue ?? Number(intValue)
}
