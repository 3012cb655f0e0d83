/**
 * Checks run events. Agents are other people's code, so each value that they yield is checked before it goes on.
 *
 * @module
 */

import { isErrorCode, ServableError } from '../base/errors.ts'
import type {
  ErrorEvent,
  EventFacts,
  FinishEvent,
  FinishReason,
  ModelUsage,
  RunEvent,
  Usage,
} from './run-types.ts'
import { partsOf } from './usage.ts'

/** Every reason with which a run may finish. */
export const FINISH_REASONS: readonly FinishReason[] = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'input_required',
  'auth_required',
  'rejected',
  'cancelled',
]

const reasons: ReadonlySet<unknown> = new Set(FINISH_REASONS)
const stepStates: ReadonlySet<unknown> = new Set(['started', 'progress', 'completed', 'failed'])

type Check = (event: Readonly<Record<string, unknown>>) => boolean

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const isUsage = (value: unknown): boolean =>
  isObject(value) &&
  Number.isFinite(value.promptTokens) &&
  Number.isFinite(value.completionTokens) &&
  Number.isFinite(value.totalTokens)

const isDataText: Check = part => typeof part.data === 'string'

const partChecks: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ['text', part => typeof part.text === 'string'],
  ['data', part => part.data !== undefined],
])

const isMetadata = (value: unknown): boolean =>
  value === undefined || (isObject(value) && !Array.isArray(value))

const isPart = (part: unknown): boolean =>
  isObject(part) && isMetadata(part.metadata) && (partChecks.get(part.type) ?? isDataText)(part)

const isParts = (value: unknown): boolean => Array.isArray(value) && value.every(isPart)

const isOptionalText = (value: unknown): boolean => value === undefined || typeof value === 'string'

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every(each => typeof each === 'string')

/** Whether the metadata and extensions of a message or an artifact have their types. A2A carries both. */
const hasFacts: Check = ({ metadata, extensions }) =>
  isMetadata(metadata) && (extensions === undefined || isTexts(extensions))

const requestKinds: ReadonlySet<unknown> = new Set(['approval', 'question', 'client_tool'])

const isRequest = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.digest === 'string' &&
  requestKinds.has(value.kind)

/** Most requests with which a run may finish. */
export const MAX_REQUESTS = 100

const isRequests = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= MAX_REQUESTS && value.every(isRequest)

const isText: Check = event => typeof event.text === 'string'

/** One check per type. It is a `Map`, so that a type named `constructor` finds nothing. */
const checks: ReadonlyMap<unknown, Check> = new Map<RunEvent['type'], Check>([
  ['text', isText],
  ['thinking', isText],
  [
    'tool_call_start',
    event =>
      isObject(event.toolCall) &&
      typeof event.toolCall.id === 'string' &&
      typeof event.toolCall.name === 'string',
  ],
  [
    'tool_call_delta',
    event => typeof event.toolCallId === 'string' && typeof event.argumentsDelta === 'string',
  ],
  ['tool_call_ready', event => typeof event.toolCallId === 'string'],
  ['model_call', event => event.usage === undefined || isUsage(event.usage)],
  [
    'tool_call_end',
    event =>
      typeof event.toolCallId === 'string' && (event.error === undefined || typeof event.error === 'string'),
  ],
  ['step', event => typeof event.name === 'string' && stepStates.has(event.status)],
  [
    'artifact',
    event =>
      typeof event.artifactId === 'string' &&
      isOptionalText(event.description) &&
      isParts(event.parts) &&
      hasFacts(event),
  ],
  ['message', event => isParts(event.parts) && hasFacts(event)],
  [
    'steered',
    event => typeof event.runId === 'string' && typeof event.messageId === 'string' && isParts(event.parts),
  ],
  ['resumed', () => true],
  ['checkpoint', event => typeof event.id === 'string' && isOptionalText(event.namespace)],
  ['graph_message', event => typeof event.id === 'string'],
  [
    'finish',
    event =>
      reasons.has(event.finishReason) &&
      (event.usage === undefined || isUsage(event.usage)) &&
      (event.structured === undefined || typeof event.structured === 'object') &&
      (event.message === undefined || typeof event.message === 'string' || isParts(event.message)) &&
      (event.requests === undefined ||
        (event.finishReason === 'input_required' && isRequests(event.requests))),
  ],
  ['error', event => typeof event.error === 'string' && typeof event.code === 'string'],
])

/** Whether `value` has the shape of a run event. It may have more members: {@link knownOf} drops them. */
export function isRunEvent(value: unknown): value is RunEvent {
  // An object with its own `toJSON` could become another event.
  return isObject(value) && checks.get(value.type)?.(value) === true && value.toJSON === undefined
}

/** The members of `T`. Each one must be named. */
type Named<T, Shared extends PropertyKey = never> = Readonly<Record<Exclude<keyof T, Shared>, 1>>

const setOf = (...all: readonly object[]): ReadonlySet<string> => new Set(all.flatMap(Object.keys))

/** What a servable may say of any event. */
type Fact = 'type' | Exclude<keyof EventFacts, 'until'>

const FACTS: Readonly<Record<Fact, 1>> = { type: 1, at: 1, agent: 1, parentId: 1 }

const MEMBERS: { readonly [T in RunEvent['type']]: Named<Extract<RunEvent, { type: T }>, Fact | 'until'> } = {
  text: { text: 1 },
  thinking: { text: 1 },
  tool_call_start: { toolCall: 1, isClientTool: 1 },
  tool_call_delta: { toolCallId: 1, argumentsDelta: 1 },
  tool_call_ready: { toolCallId: 1, args: 1 },
  tool_call_end: { toolCallId: 1, result: 1, error: 1, code: 1 },
  model_call: { model: 1, usage: 1, finishReason: 1, durationMs: 1 },
  step: { id: 1, name: 1, status: 1, index: 1, text: 1, durationMs: 1, error: 1 },
  artifact: {
    ...{ artifactId: 1, name: 1, description: 1, parts: 1, append: 1, lastChunk: 1 },
    ...{ metadata: 1, extensions: 1 },
  },
  message: { parts: 1, metadata: 1, extensions: 1 },
  steered: { runId: 1, messageId: 1, parts: 1 },
  resumed: {},
  checkpoint: { id: 1, namespace: 1 },
  graph_message: { id: 1 },
  finish: { finishReason: 1, requests: 1, message: 1, usage: 1, structured: 1, steeredInto: 1 },
  error: { error: 1, code: 1, details: 1 },
}

const known: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(MEMBERS).map(([type, members]) => [type, setOf(FACTS, members)]),
)

const TOKENS = { promptTokens: 1, completionTokens: 1, totalTokens: 1, cost: 1 } as const
const USAGE = setOf({ ...TOKENS, models: 1 } satisfies Named<Usage>)
const OF_MODEL = setOf({ ...TOKENS, model: 1 } satisfies Named<ModelUsage>)

/** An event with only the members of the contract. Guards look at no others. */
export function knownOf<E extends RunEvent>(emitted: E): E {
  const event = only(emitted, known.get(emitted.type)!)
  if (event.type === 'tool_call_start') {
    const { id, name } = event.toolCall
    return { ...event, toolCall: { id, name } }
  }
  if ((event.type !== 'finish' && event.type !== 'model_call') || event.usage === undefined) return event
  const usage = only(event.usage, USAGE)
  const models = usage.models && partsOf(usage).map(each => only(each, OF_MODEL))
  return { ...event, usage: models ? { ...usage, models } : usage }
}

/** Returns the same object if it has no other members than these. */
function only<T extends object>(value: T, names: ReadonlySet<string>): T {
  for (const name in value) {
    if (names.has(name)) continue
    const there = [...names].filter(each => each in value)
    return Object.fromEntries(there.map(each => [each, value[each as keyof T]])) as T
  }
  return value
}

/** Whether an event ends its run. */
export function isTerminal(event: RunEvent): event is FinishEvent | ErrorEvent {
  return event.type === 'finish' || event.type === 'error'
}

/** Whether a body ends here because it waits for someone. */
export function isWaiting(value: string | RunEvent): value is FinishEvent {
  return typeof value === 'object' && value.type === 'finish' && (value.requests?.length ?? 0) > 0
}

/** Returns the error of an error event. */
export function errorOf(event: ErrorEvent): ServableError {
  const { details } = event
  return new ServableError(isErrorCode(event.code) ? event.code : 'agent_failed', event.error, { details })
}
