import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeLabel, toPrometheus } from '../../../src/features/metrics/prometheus.ts'
import { type Counted, Stats } from '../../../src/features/metrics/stats.ts'
import { createHandler, MetricsExporter } from '../../../src/index.ts'

const empty = { counted: [], sockets: 0, streams: 0 }

function counted(name: string, tools: string[] = []): Counted {
  const stats = new Stats()
  const sample = {
    outcome: 'stop',
    durationMs: 30,
    firstTextMs: 4,
    usage: undefined,
    cost: undefined,
    tools,
  } as const
  stats.record(sample)
  return { kind: 'agent', name, stats, active: 0 }
}

describe('the text for scrapers', () => {
  it('has the seven series of the specification, each with HELP and TYPE', () => {
    const text = toPrometheus({ ...empty, counted: [counted('echo')] }, 'prometheus')
    for (const [name, type] of [
      ['service_agent_runs_total', 'counter'],
      ['service_agent_errors_total', 'counter'],
      ['service_agent_duration_ms_avg', 'gauge'],
      ['service_agent_duration_ms_p95', 'gauge'],
      ['service_agent_tokens_total', 'counter'],
      ['service_agent_cost_usd_total', 'counter'],
      ['service_agent_tool_calls_total', 'counter'],
    ] as const) {
      expect(text).toMatch(
        new RegExp(`# HELP ${name} .+\\n# TYPE ${name} ${type}\\n${name}\\{agent="echo"\\} [\\d.]+\\n`),
      )
    }
  })

  it('adds buckets up', () => {
    const text = toPrometheus({ ...empty, counted: [counted('echo')] }, 'prometheus')
    const buckets = [...text.matchAll(/run_duration_seconds_bucket\{agent="echo",le="([^"]+)"\} (\d+)/g)]
    expect(buckets.map(([, le, count]) => [le, Number(count)]).slice(0, 5)).toEqual([
      ['0.005', 0],
      ['0.01', 0],
      ['0.025', 0],
      ['0.05', 1],
      ['0.1', 1],
    ])
    expect(buckets.at(-1)?.slice(1)).toEqual(['+Inf', '1'])
    expect(text).toContain('service_agent_run_duration_seconds_sum{agent="echo"} 0.03\n')
  })

  it('is OpenMetrics for those who want that', () => {
    const text = toPrometheus({ ...empty, counted: [counted('echo')] }, 'openmetrics')
    expect(text).toContain('# TYPE service_agent_runs counter\nservice_agent_runs_total{agent="echo"} 1\n')
    expect(text.endsWith('\n# EOF\n')).toBe(true)
  })

  it('escapes every label, so that a line stays one', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), (name, tool) => {
        const text = toPrometheus({ ...empty, counted: [counted(name, [tool])] }, 'prometheus')
        const line =
          /^service_agent_tool_calls_by_tool_total\{agent="((?:[^"\\]|\\.)*)",tool="((?:[^"\\]|\\.)*)"\} 1$/m.exec(
            text,
          )
        const read = (label = '') => label.replace(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char))
        expect([read(line?.[1]), read(line?.[2])]).toEqual([name, tool])
        expect(escapeLabel(name)).not.toContain('\n')
      }),
    )
  })
})

describe('the format', () => {
  const handler = createHandler({ metricsExporter: new MetricsExporter(), registry: false })
  const typeFor = async (accept?: string) => {
    const headers = accept === undefined ? {} : { accept }
    const response = await handler(new Request('http://127.0.0.1/api/metrics', { headers }))
    return response.headers.get('content-type')?.split(';')[0]
  }

  it.each([
    [undefined, 'text/plain'],
    ['*/*', 'text/plain'],
    ['text/plain', 'text/plain'],
    ['application/openmetrics-text', 'application/openmetrics-text'],
    [
      'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5',
      'application/openmetrics-text',
    ],
    ['application/openmetrics-text;q=0.2,text/plain;q=0.5', 'text/plain'],
    ['application/openmetrics-text;q=0', 'text/plain'],
    ['nonsense;;;q=x,', 'text/plain'],
  ])('for %s is %s', async (accept, type) => {
    expect(await typeFor(accept)).toBe(type)
  })

  it('says its version, and that nobody keeps it', async () => {
    const { headers } = await handler(new Request('http://127.0.0.1/api/metrics'))
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
  })
})
