/**
 * The names of OpenTelemetry's semantic conventions for generative AI. All of them are of one revision.
 *
 * @module
 */

import { isErrorCode } from '../../base/errors.ts'

/**
 * The revision: semantic conventions 1.41.0, the last release with those of generative AI. Their status is Development: a later
 * revision has other names. Give it to your tracer and your meter as `schemaUrl`.
 */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

/** The kind of an operation, as `gen_ai.operation.name`. */
export type SpanOperation = 'invoke_agent' | 'invoke_workflow' | 'execute_tool' | 'chat'

/** The attributes of spans and metrics. Those that begin with `servable.` are specific to this service. */
export const ATTR = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  workflowName: 'gen_ai.workflow.name',
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
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
  runId: 'servable.run.id',
  continues: 'servable.run.continues',
  step: 'servable.step.name',
} as const

/** The histograms, with the bounds of their buckets. */
export const METRICS = {
  duration: {
    name: 'gen_ai.client.operation.duration',
    description: 'GenAI operation duration.',
    unit: 's',
    boundaries: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  tokens: {
    name: 'gen_ai.client.token.usage',
    description: 'Number of input and output tokens used.',
    unit: '{token}',
    boundaries: [
      1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
    ],
  },
  firstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    description: 'Time to receive the first chunk.',
    unit: 's',
    boundaries: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  },
} as const

/** The value for an error without a code of this service, and for models above the limit. */
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
