import type { Builders, Description, Schema, SchemaBuilders } from '../../core/builders.ts'

/** Describes the routes of metrics for the OpenAPI document. */
export function describeMetrics(build: Builders): Description {
  const { at, operation, answer, json, eventStream, parameter, ref, text } = build
  return {
    tags: [{ name: 'metrics', description: 'Counts of runs and tokens' }],
    paths: {
      [at('metrics')]: {
        get: operation('metrics', 'scrapeMetrics', 'Metrics as text, for a scraper', {
          responses: {
            200: answer('Prometheus text, or OpenMetrics', {
              'text/plain': { schema: text },
              'application/openmetrics-text': { schema: text },
            }),
          },
          problems: [401],
        }),
      },
      [at('metrics/json')]: {
        get: operation('metrics', 'getMetrics', 'Metrics as JSON, of all or of one agent', {
          parameters: [parameter('query', 'agent', 'Name of an agent')],
          responses: { 200: answer('The metrics', json({ oneOf: [ref('Metrics'), ref('AgentMetrics')] })) },
          problems: [401, 404],
        }),
      },
      [at('metrics/history')]: {
        get: operation('metrics', 'getMetricsHistory', 'The last hour in steps of 30 s', {
          responses: { 200: answer('120 steps, oldest first', json(ref('MetricsHistory'))) },
          problems: [401, 404],
        }),
      },
      [at('metrics/stream')]: {
        get: operation('metrics', 'watchMetrics', 'Live events', {
          responses: {
            200: answer('Server-sent events: each `data` is one of these', eventStream(ref('MetricsEvent'))),
          },
          problems: [401, 429],
        }),
      },
    },
    schemas: metricsSchemas(build),
  }
}

/** The schemas of the answers. */
export function metricsSchemas({
  ref,
  object,
  named,
  choice,
  event,
  text,
  count,
  amount,
  moment,
}: SchemaBuilders): Record<string, Schema> {
  const each = named(ref('AgentMetrics'))
  return {
    AgentMetrics: object({
      runs: count,
      errors: count,
      cancels: count,
      avgDurationMs: amount,
      p95DurationMs: amount,
      'totalCost?': { ...amount, description: 'USD' },
      totalTokens: count,
      toolCallCount: count,
      toolUsageFrequency: named(count),
      'approvals?': object({ asked: count, approved: count, denied: count }),
      errorRate: { ...amount, maximum: 1 },
      tokensPerRun: amount,
      'providerMetrics?': ref('Usage'),
      activeRuns: count,
    }),
    Metrics: object({
      global: ref('AgentMetrics'),
      byAgent: each,
      byTeam: each,
      byWorkflow: each,
      timestamp: moment,
    }),
    MetricsHistory: object({
      stepMs: count,
      steps: { type: 'array', items: ref('MetricsStep') },
    }),
    MetricsStep: object({
      at: moment,
      runs: count,
      errors: count,
      cancels: count,
      tokens: count,
      'cost?': { ...amount, description: 'USD' },
      p50DurationMs: amount,
      p95DurationMs: amount,
      p99DurationMs: amount,
      p50FirstTextMs: amount,
      p95FirstTextMs: amount,
    }),
    MetricsEvent: {
      oneOf: [
        object({
          type: choice('run.start', 'tool.call', 'run.complete', 'run.error'),
          agentName: text,
          timestamp: moment,
          data: { type: 'object' },
        }),
        event('dropped', { timestamp: moment, data: object({ count }) }),
      ],
    },
  }
}
