/**
 * The schemas of the document: of requests from the schemas that check them, of answers as they are made.
 *
 * @module
 */

import { toJsonSchema } from '@valibot/to-json-schema'
import { FINISH_REASONS } from '../agents/event.ts'
import { KINDS } from '../agents/registry.ts'
import { CorrectionSchema } from '../http/corrections.ts'
import { ContentPartSchema, RunBodySchema } from '../runs/input.ts'
import { RUN_STATUSES } from '../runs/record.ts'

/** A schema of OpenAPI 3.0. */
export type Schema = Readonly<Record<string, unknown>>

/** Points at a schema of the document. */
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

const text: Schema = { type: 'string' }
const maybeText: Schema = { type: 'string', nullable: true }
const flag: Schema = { type: 'boolean' }
const count: Schema = { type: 'integer', minimum: 0 }
const amount: Schema = { type: 'number', minimum: 0 }
const moment: Schema = { type: 'string', format: 'date-time' }
const anything: Schema = {}
const list = (items: Schema): Schema => ({ type: 'array', items })
const counts: Schema = { type: 'object', additionalProperties: count }

/** An object; fields whose names end with a question mark may be missing. */
function object(fields: Readonly<Record<string, Schema>>, description?: string): Schema {
  const names = Object.keys(fields)
  const required = names.filter(name => !name.endsWith('?'))
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(names.map(name => [name.replace(/\?$/, ''), fields[name]])),
    ...(required.length > 0 && { required }),
  }
}

/** An event of a run: its type, and what comes with it. */
const event = (type: string, fields: Readonly<Record<string, Schema>>): Schema =>
  object({ type: { type: 'string', enum: [type] }, ...fields })

const fromValibot = (schema: Parameters<typeof toJsonSchema>[0]): Schema =>
  toJsonSchema(schema, { target: 'openapi-3.0', errorMode: 'ignore' }) as Schema

const finishReason: Schema = { type: 'string', enum: [...FINISH_REASONS] }
const kind: Schema = { type: 'string', enum: [...KINDS] }

const named = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })

/** Of the admin routes. */
function adminSchemas(): Record<string, Schema> {
  const transport: Schema = { type: 'string', enum: ['http', 'sse', 'stdio'] }
  return {
    ToolServerBody: object({
      name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
      transport,
      'url?': { ...text, description: 'For `http` and `sse`' },
      'headers?': { ...named(text), description: 'For `http` and `sse`; the values are never shown again' },
      'command?': { ...text, description: 'For `stdio`: one of those that the deployment allows' },
      'args?': list(text),
      'env?': { ...named(text), description: 'For `stdio`; the values are never shown again' },
      'autoConnect?': flag,
    }),
    ToolServer: object({
      id: text,
      name: text,
      transport,
      url: maybeText,
      command: maybeText,
      status: { type: 'string', enum: ['disconnected', 'connecting', 'connected', 'error'] },
      toolCount: count,
      error: maybeText,
      warnings: list(text),
      connectedAt: { ...moment, nullable: true },
      createdAt: moment,
    }),
    ServerTool: { allOf: [ref('ToolSummary'), object({ server: text })] },
    Toolkit: object({
      id: text,
      name: text,
      description: maybeText,
      category: maybeText,
      requiresCredentials: flag,
      configFields: list(object({ name: text, description: maybeText, required: flag, secret: flag })),
    }),
    FoundRuns: object({
      runs: list({ allOf: [ref('RunRecord'), object({ owner: maybeText })] }),
      tasks: list(
        object({
          id: text,
          contextId: text,
          agent: text,
          owner: maybeText,
          status: object({ state: text, timestamp: moment }),
        }),
      ),
    }),
    ToolkitDetail: { allOf: [ref('Toolkit'), object({ tools: list(ref('ToolSummary')) })] },
  }
}

/** All schemas, by name. Made when the document is asked for. */
export function createSchemas(): Record<string, Schema> {
  return {
    ContentPart: fromValibot(ContentPartSchema),
    RunBody: fromValibot(RunBodySchema),
    CorrectionBody: fromValibot(CorrectionSchema),
    Usage: object({
      promptTokens: count,
      completionTokens: count,
      totalTokens: count,
      'cost?': { ...amount, description: 'USD' },
      'models?': list(ref('ModelUsage')),
    }),
    ModelUsage: object({
      'model?': { ...text, description: '`provider/id`' },
      promptTokens: count,
      completionTokens: count,
      totalTokens: count,
      'cost?': { ...amount, description: 'USD' },
    }),
    ToolCall: object({
      toolCallId: text,
      toolName: text,
      'args?': anything,
      'result?': anything,
      'error?': text,
      'agent?': { ...text, description: "Whose call it is, where it is not the run's own" },
    }),
    Artifact: object({ artifactId: text, 'name?': text, parts: list(ref('ContentPart')) }),
    RunResult: object({
      text,
      toolCalls: list(ref('ToolCall')),
      usage: ref('Usage'),
      structured: { nullable: true, description: 'An object or an array; null without structured output' },
      durationMs: amount,
      finishReason,
      runId: text,
      'steps?': list(object({ name: text, status: text, durationMs: amount })),
      'artifacts?': list(ref('Artifact')),
    }),
    RunEvent: {
      description: 'The `data` of one message of a stream. A run ends in exactly one `finish` or `error`.',
      oneOf: [
        event('text', { text }),
        event('thinking', { text }),
        event('tool_call_start', { toolCall: object({ id: text, name: text }), 'agent?': text }),
        event('tool_call_delta', { toolCallId: text, argumentsDelta: text }),
        event('tool_call_end', {
          toolCallId: text,
          'result?': anything,
          'error?': text,
          'code?': text,
          'agent?': text,
        }),
        event('step', {
          name: text,
          status: { type: 'string', enum: ['started', 'progress', 'completed', 'failed'] },
          'index?': count,
          'text?': text,
          'durationMs?': amount,
          'error?': text,
        }),
        event('artifact', {
          artifactId: text,
          'name?': text,
          parts: list(ref('ContentPart')),
          'append?': flag,
          'lastChunk?': flag,
        }),
        event('message', { parts: list(ref('ContentPart')) }),
        event('finish', {
          finishReason,
          'usage?': ref('Usage'),
          'structured?': { nullable: true },
        }),
        event('error', { error: text, code: text }),
      ],
    },
    RunRecord: object({
      id: text,
      kind,
      name: text,
      status: { type: 'string', enum: [...RUN_STATUSES] },
      'finishReason?': finishReason,
      createdAt: moment,
      updatedAt: moment,
      'sessionId?': text,
      'userId?': text,
      'result?': ref('RunResult'),
      'error?': object({ code: text, message: text }),
    }),
    Index: object({ _links: named(object({ href: text, 'templated?': flag })) }),
    RunPage: object({ runs: list(ref('RunRecord')), nextCursor: maybeText }),
    Correction: {
      allOf: [ref('CorrectionBody'), object({ id: text, agent: text, createdAt: moment })],
    },
    CorrectionPage: object({ corrections: list(ref('Correction')), nextCursor: maybeText }),
    AgentSummary: object({
      name: text,
      description: maybeText,
      model: maybeText,
      provider: maybeText,
      tools: list(text),
      hasStructuredOutput: flag,
      capabilities: list(text),
    }),
    TeamSummary: object({ name: text, description: maybeText, members: list(text) }),
    WorkflowSummary: object({ name: text, description: maybeText, steps: list(text) }),
    RegistryNames: object({ agents: list(text), teams: list(text), workflows: list(text) }),
    ToolSummary: object({
      name: text,
      description: maybeText,
      parameters: { type: 'object', nullable: true, description: 'JSON Schema' },
    }),
    ToolDetail: { allOf: [ref('ToolSummary'), object({ toolkit: maybeText, server: maybeText })] },
    ...adminSchemas(),
    AgentMetrics: object({
      runs: count,
      errors: count,
      cancels: count,
      avgDurationMs: amount,
      p95DurationMs: amount,
      'totalCost?': { ...amount, description: 'USD' },
      totalTokens: count,
      toolCallCount: count,
      toolUsageFrequency: counts,
      errorRate: { type: 'number', minimum: 0, maximum: 1 },
      tokensPerRun: amount,
      'providerMetrics?': ref('Usage'),
      activeRuns: count,
    }),
    Metrics: object({
      global: ref('AgentMetrics'),
      byAgent: { type: 'object', additionalProperties: ref('AgentMetrics') },
      byTeam: { type: 'object', additionalProperties: ref('AgentMetrics') },
      byWorkflow: { type: 'object', additionalProperties: ref('AgentMetrics') },
      timestamp: moment,
    }),
    MetricsEvent: {
      oneOf: [
        object({
          type: { type: 'string', enum: ['run.start', 'tool.call', 'run.complete', 'run.error'] },
          agentName: text,
          timestamp: moment,
          data: { type: 'object' },
        }),
        event('dropped', { timestamp: moment, data: object({ count }) }),
      ],
    },
    Health: object({
      status: text,
      live: flag,
      ready: flag,
      'versions?': object({ servable: text, runtime: text }),
    }),
    Problem: object(
      {
        type: text,
        title: text,
        status: { type: 'integer' },
        detail: text,
        error: text,
        code: { type: 'string', description: 'Stable: match this one' },
        requestId: text,
        'issues?': list(object({ path: text, message: text })),
      },
      'RFC 9457 problem details',
    ),
  }
}
