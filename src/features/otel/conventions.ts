/**
 * The names of OpenTelemetry's semantic conventions for generative AI. All of them are of one revision.
 *
 * @module
 */

import type { MetricOptions } from '@opentelemetry/api'
import { isErrorCode } from '../../base/errors.ts'

/**
 * The revision: 0.1.0 of the semantic conventions for generative AI, which have a repository of their own. Their status is
 * Development: a later revision has other names. Give it to your tracer and your meter as `schemaUrl`.
 */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/gen-ai/0.1.0'

/** The kind of an operation, as `gen_ai.operation.name`. */
export type SpanOperation = 'invoke_agent' | 'invoke_workflow' | 'execute_tool' | 'chat'

/** The attributes of spans and metrics. Those that begin with `servable.` are specific to this service. */
export const ATTR = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  agentName: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  finishReasons: 'gen_ai.response.finish_reasons',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  isNested: 'gen_ai.invocation.is_nested',
  modality: 'gen_ai.token.modality',
  errorType: 'error.type',
  runId: 'servable.run.id',
  continues: 'servable.run.continues',
  kind: 'servable.kind',
  version: 'servable.version',
  step: 'servable.step.name',
} as const

const CALL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const RUN_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
const FIRST_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
]

/** A metric to make. */
export interface MetricPlan {
  readonly name: string
  readonly options: MetricOptions
}

/** A histogram, with the bounds of its buckets. */
function histogram(name: string, unit: string, boundaries: number[], description: string): MetricPlan {
  return { name, options: { unit, description, advice: { explicitBucketBoundaries: boundaries } } }
}

function counter(name: string, description: string): MetricPlan {
  return { name, options: { unit: '{token}', description } }
}

/** The histograms of durations, in seconds. */
export const DURATIONS: Readonly<
  Record<'invocation' | 'tool' | 'inference' | 'firstChunk' | 'firstText', MetricPlan>
> = {
  invocation: histogram('gen_ai.invocation.duration', 's', RUN_SECONDS, 'Duration of a run.'),
  tool: histogram('gen_ai.execute_tool.duration', 's', CALL_SECONDS, 'Duration of a call of a tool.'),
  inference: histogram(
    'gen_ai.client.inference.duration',
    's',
    CALL_SECONDS,
    'Duration of a call of a model.',
  ),
  firstChunk: histogram(
    'gen_ai.client.inference.time_to_first_chunk',
    's',
    FIRST_SECONDS,
    'Time until the first chunk of a call of a model.',
  ),
  firstText: histogram(
    'servable.run.time_to_first_chunk',
    's',
    FIRST_SECONDS,
    'Time until the first chunk of the answer of a run.',
  ),
}

/** Tokens: counters of all, and histograms of single calls of a model. */
export const USAGE: Readonly<
  Record<'input' | 'output', { readonly all: MetricPlan; readonly each: MetricPlan }>
> = {
  input: {
    all: counter('gen_ai.client.inference.usage.input_tokens', 'Input tokens used.'),
    each: histogram(
      'gen_ai.client.inference.operation.input_tokens',
      '{token}',
      TOKENS,
      'Input tokens of a call of a model.',
    ),
  },
  output: {
    all: counter('gen_ai.client.inference.usage.output_tokens', 'Output tokens used.'),
    each: histogram(
      'gen_ai.client.inference.operation.output_tokens',
      '{token}',
      TOKENS,
      'Output tokens of a call of a model.',
    ),
  },
}

/** The value for an error without a code of this service, and for names above the limit. */
export const OTHER = '_OTHER'

/** Providers whose names in the conventions differ from the packages of models. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['google', 'gcp.gemini'],
  ['google.vertex', 'gcp.vertex_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

/** The name of a provider: `openai` for the AI SDK's `openai.responses`. */
export function providerName(provider: string): string {
  const [first = '', second = ''] = provider.split('.')
  return PROVIDERS.get(`${first}.${second}`) ?? PROVIDERS.get(first) ?? first
}

/** A model in attributes. */
export interface ModelName {
  readonly provider: string
  readonly model: string
}

/** The parts of `provider/id`. A provider has no slash, an id may have some. Undefined unless both are present. */
export function modelName(model: string | undefined): ModelName | undefined {
  const at = model?.indexOf('/') ?? -1
  if (model === undefined || at < 1) return undefined
  return { provider: providerName(model.slice(0, at)), model: model.slice(at + 1) }
}

/** The `error.type` of a code. Codes of this service are used unchanged. */
export function errorType(code: string | undefined): string {
  return code !== undefined && isErrorCode(code) ? code : OTHER
}
