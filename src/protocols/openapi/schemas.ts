/**
 * The schemas of the core's answers.
 *
 * @module
 */

import { FINISH_REASONS } from '../../agents/event.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Schema, SchemaBuilders } from '../../core/builders.ts'
import { RATINGS } from '../../runs/feedback.ts'
import { RUN_STATUSES } from '../../runs/stored/record.ts'

const anything: Schema = {}

/** Schemas of runs and of the index. It is long because it is a table: one entry for each schema. */
export function runSchemas(build: SchemaBuilders): Record<string, Schema> {
  const { ref, object, list, named, choice, event, text, maybeText, flag, count, amount, moment } = build
  const finishReason = choice(...FINISH_REASONS)
  const kind = choice(...KINDS)
  const runEvent: typeof event = (type, fields) =>
    event(type, {
      ...fields,
      'at?': { ...count, description: 'Milliseconds since the start of the run' },
      'until?': {
        ...count,
        description: 'The `at` of the last piece, if pieces were joined after the end of the run',
      },
      'agent?': { ...text, description: "Who says it, if not the run's own" },
      'parentId?': { ...text, description: 'The step or the tool call inside of which it happens' },
    })
  const label = { 'name?': text, 'description?': { ...text, description: 'For people' } }
  /** A2A facts besides parts. */
  const facts = { 'metadata?': { type: 'object' }, 'extensions?': list(text) }
  const messageSchema: Schema = {
    oneOf: [text, list(ref('ContentPart'))],
    description: 'What the servable says about the end, apart from the answer',
  }
  return {
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
      'agent?': { ...text, description: "Agent that made the call, if not the run's own" },
    }),
    Artifact: object({ artifactId: text, ...label, parts: list(ref('ContentPart')), ...facts }),
    SteeredRun: object({
      id: { ...text, description: 'The run at work' },
      steered: { enum: [true] },
      messageId: text,
      position: count,
      next: { ...text, description: 'The run that the message starts if that one ends first' },
    }),
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
      'requests?': list(ref('InputRequest')),
      'message?': messageSchema,
      'steeredInto?': { ...text, description: 'The run at work that got the message' },
    }),
    InputRequest: object(
      {
        id: { ...text, description: 'An answer names it' },
        kind: choice('approval', 'question', 'client_tool'),
        'message?': { ...text, description: 'What a person is asked' },
        'url?': { ...text, description: 'The address to open, of a question that is answered there' },
        'toolCallId?': text,
        'toolName?': text,
        'args?': anything,
        'schema?': { description: 'JSON Schema of the value, or of edited arguments' },
        'editable?': { ...flag, description: 'The arguments may be edited' },
        digest: { ...text, description: 'SHA-256 of what is shown. An answer may repeat it' },
      },
      'What a run waits for',
    ),
    RunEvent: {
      description: 'The `data` of one message of a stream. A run ends in exactly one `finish` or `error`.',
      oneOf: [
        runEvent('text', { text }),
        runEvent('thinking', { text }),
        runEvent('tool_call_start', { toolCall: object({ id: text, name: text }), 'isClientTool?': flag }),
        runEvent('tool_call_delta', { toolCallId: text, argumentsDelta: text }),
        runEvent('tool_call_ready', { toolCallId: text, 'args?': anything }),
        runEvent('tool_call_end', {
          toolCallId: text,
          'result?': anything,
          'error?': text,
          'code?': text,
        }),
        runEvent('model_call', {
          'model?': { ...text, description: '`provider/id`' },
          'usage?': ref('Usage'),
          'finishReason?': finishReason,
          'durationMs?': amount,
        }),
        runEvent('step', {
          'id?': { ...text, description: 'Unique in the run' },
          name: text,
          status: choice('started', 'progress', 'completed', 'failed'),
          'index?': count,
          'text?': text,
          'durationMs?': amount,
          'error?': text,
        }),
        runEvent('artifact', {
          artifactId: text,
          ...label,
          parts: list(ref('ContentPart')),
          ...facts,
          'append?': flag,
          'lastChunk?': flag,
        }),
        runEvent('message', { parts: list(ref('ContentPart')), ...facts }),
        runEvent('steered', { runId: text, messageId: text, parts: list(ref('ContentPart')) }),
        runEvent('resumed', {}),
        runEvent('checkpoint', { id: text, 'namespace?': text }),
        runEvent('graph_message', { id: text }),
        runEvent('finish', {
          finishReason,
          'requests?': list(ref('InputRequest')),
          'message?': messageSchema,
          'usage?': ref('Usage'),
          'structured?': { nullable: true },
          'steeredInto?': text,
        }),
        runEvent('error', { error: text, code: text, 'details?': { type: 'object' } }),
      ],
    },
    RunRecord: object({
      id: text,
      kind,
      name: text,
      status: choice(...RUN_STATUSES),
      'title?': { ...text, description: 'The first line of its input, if the input is kept' },
      'position?': { ...count, description: 'While it is `queued`: 1 is next' },
      'finishReason?': finishReason,
      createdAt: moment,
      updatedAt: moment,
      'sessionId?': text,
      'userId?': text,
      'result?': ref('RunResult'),
      'input?': { oneOf: [text, list(ref('ContentPart'))] },
      'requests?': { ...list(ref('InputRequest')), description: 'What the run still waits for' },
      'waiting?': { ...flag, description: 'It waits for answers' },
      'continuedFrom?': { ...text, description: 'The run from which this one goes on' },
      'retryOf?': { ...text, description: 'The run whose input this one runs again' },
      'answered?': { ...list({ type: 'object' }), description: 'Who answered which requests' },
      'continuedBy?': { ...text, description: 'The run that goes on from this one' },
      'resumable?': { ...flag, description: 'Its owner can let it go on' },
      'durationMs?': amount,
      'firstTextMs?': { ...count, description: 'Milliseconds to the first text' },
      'usage?': ref('Usage'),
      'cost?': { ...amount, description: 'USD' },
      'toolCalls?': { ...count, description: 'The number of tool calls' },
      'model?': { ...text, description: '`provider/id`' },
      'transport?': { ...text, description: 'How it was asked for: `http`, `sse`, `socket` or a plugin' },
      'taskId?': { ...text, description: 'The A2A task whose turn it was' },
      'feedback?': { ...choice(...RATINGS), description: 'What was said of it: the sign of the score' },
      'error?': object({ code: text, message: text, 'details?': { type: 'object' } }),
    }),
    DecidedRun: object({
      id: text,
      kind,
      name: text,
      goesOn: flag,
      'requests?': list(ref('InputRequest')),
      'resumable?': flag,
    }),
    Index: object({ _links: named(object({ href: text, 'templated?': flag })) }),
    RunEventPage: object({
      events: list(object({ id: count, event: ref('RunEvent') })),
      next: { ...count, description: 'The `after` of the next page' },
      ended: { ...flag, description: 'The run has ended, and there is no next page' },
    }),
    RunListEvent: {
      oneOf: [
        event('all', { runs: list(ref('RunRecord')), hasMore: flag }),
        event('added', { run: ref('RunRecord') }),
        event('changed', { run: ref('RunRecord') }),
        event('removed', { id: text }),
      ],
    },
    RunPage: object({
      runs: list(ref('RunRecord')),
      nextCursor: maybeText,
      'count?': { ...count, description: 'The number of runs of all pages, with `count=true`' },
      'countIsCut?': { ...flag, description: 'There are more runs than were looked at' },
    }),
  }
}

/** Schemas of the lists of agents, teams and workflows. */
export function listSchemas(build: SchemaBuilders): Record<string, Schema> {
  const { object, list, text, maybeText, flag } = build
  const hints = {
    'inputSchema?': { type: 'object', description: 'JSON Schema of the data that it takes' },
    'examples?': { ...list(text), description: 'Example prompts' },
  }
  return {
    AgentSummary: object({
      name: text,
      description: maybeText,
      model: maybeText,
      provider: maybeText,
      tools: list(text),
      hasStructuredOutput: flag,
      capabilities: list(text),
      'outputSchema?': { type: 'object', description: 'JSON Schema of the structured output' },
      'corrections?': { ...flag, description: 'It takes corrections' },
      ...hints,
    }),
    TeamSummary: object({ name: text, description: maybeText, members: list(text), ...hints }),
    WorkflowSummary: object({ name: text, description: maybeText, steps: list(text), ...hints }),
    RegistryNames: object({ agents: list(text), teams: list(text), workflows: list(text) }),
  }
}

/** Schemas of the service itself. */
export function serviceSchemas({ object, list, text, flag }: SchemaBuilders): Record<string, Schema> {
  return {
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
