/**
 * Agents of Mastra.
 *
 * @module
 */

import type { RunInput } from '../../../agents/contract.ts'
import { ownerOf } from '../../../agents/memory.ts'
import type { Tool } from '../../../agents/tool.ts'
import { nameOf } from '../../../agents/usage.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import type { Adapter } from '../adapter.ts'
import { repeatCalls } from '../ai-sdk/ai-approvals.ts'
import { toAiInput, userMessage } from '../ai-sdk/ai-messages.ts'
import { AiParts } from '../ai-sdk/ai-parts.ts'
import { answeredMessages, askClient, toMastraTools } from '../client-tools.ts'
import { modelOf, toolsOf } from '../facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, textIn, type UnknownFields } from '../fields.ts'
import { threadOf } from '../history.ts'
import { Steers } from '../steers.ts'
import type { Before } from '../waits.ts'
import { isSuspended, keptOf, resumed, toRequestPart } from './mastra-suspended.ts'

/**
 * A run with a `sessionId` has its thread in the agent's memory. The resource is the user, or the thread itself without a
 * user.
 */
export const mastra: Adapter = {
  what: 'a Mastra agent',
  steers: true,
  recognizes: value => hasMethods(value, 'generate', 'stream', 'getDescription', 'listTools'),
  factsOf(agent) {
    const { name, id, model } = fieldsOf(agent)
    return {
      name: name ?? id,
      description: textIn(callMethod(agent, 'getDescription')),
      model: modelOf(model),
      tools: learnTools(agent),
    }
  },
  async *run(agent, input, context, _, before) {
    const thread = threadOf(context)
    const memory = thread === undefined ? {} : { memory: { thread, resource: ownerOf(context) ?? thread } }
    const clientTools = await toMastraTools(agent, context.clientTools)
    const steers = new Steers(context, userMessage)
    const options = {
      ...{ abortSignal: context.signal, ...memory },
      ...(clientTools && { clientTools }),
      ...(steers.isOpen && { prepareStep: await prepareStepOf(agent, steers) }),
    }
    const parts = new AiParts({ keepsCalls: context.work.keepsCalls })
    if (before && isSuspended(before)) yield* repeatCalls(before, parts)
    let isClientAsked = false
    let result: UnknownFields = {}
    for await (const stream of streamsOf(agent, input, context, before, options)) {
      result = stream
      for await (const chunk of itemsOf(result.fullStream)) {
        yield* steers.events()
        yield* parts.read(toAiPart(chunk))
        isClientAsked ||= clientTools !== undefined && isCallOf(chunk, clientTools)
      }
    }
    const { outcome, asked } = parts
    if (asked.length > 0) return { ...outcome, asked, state: () => keptOf(agent, result) }
    if (clientTools === undefined || !isClientAsked) return outcome
    context.signal.throwIfAborted()
    return { ...outcome, ...(yield* askClient(result, clientTools, parts)) }
  },
}

/**
 * Adds the messages that have come to the list of messages, which Mastra tells the model of and keeps. An option of a call
 * replaces that of the agent, so this calls the agent's own `prepareStep`.
 */
async function prepareStepOf(agent: unknown, steers: Steers): Promise<(step: object) => Promise<unknown>> {
  const own = hasMethods(agent, 'getDefaultOptions')
    ? await callMethod(agent, 'getDefaultOptions')
    : undefined
  return async step => {
    const { messageList } = fieldsOf(step)
    // Without the list, each message waits for a run of its own.
    const news = hasMethods(messageList, 'add') ? await steers.news() : []
    // What the agent says from here on is another message, which comes after them.
    if (news.length > 0 && hasMethods(step, 'rotateResponseMessageId'))
      callMethod(step, 'rotateResponseMessageId')
    for (const message of news) callMethod(messageList, 'add', message, 'input')
    return hasMethods(own, 'prepareStep') ? callMethod(own, 'prepareStep', step) : undefined
  }
}

/**
 * Learns the tools, which Mastra returns asynchronously. The list is empty until then, and stays so if the tools depend on the
 * request.
 */
function learnTools(agent: unknown): readonly Tool[] {
  const tools: Tool[] = []
  const ask = async () => tools.push(...toolsOf(await callMethod(agent, 'listTools')))
  void ask().catch(() => {})
  return tools
}

/** The streams of one run. Mastra takes only one answer to a suspended call at a time. */
async function* streamsOf(
  agent: unknown,
  input: RunInput,
  context: RunContext,
  before: Before | undefined,
  options: object,
): AsyncGenerator<UnknownFields> {
  if (before !== undefined && isSuspended(before)) {
    yield* resumed(agent, before, context, options)
    return
  }
  const messages = before ? answeredMessages(before, context) : toAiInput(input, context.history)
  yield fieldsOf(await callMethod(agent, 'stream', messages, options))
}

function isCallOf(chunk: unknown, tools: UnknownFields): boolean {
  const { type, payload } = fieldsOf(chunk)
  return type === 'tool-call' && Object.hasOwn(tools, textIn(fieldsOf(payload).toolName) ?? '')
}

/** Mastra's names for parts of the AI SDK. */
const NAMES: ReadonlyMap<unknown, string> = new Map([
  ['tool-call-input-streaming-start', 'tool-input-start'],
  ['tool-call-delta', 'tool-input-delta'],
])

/** A chunk of Mastra as a part of the AI SDK. */
function toAiPart(chunk: unknown): object {
  const { type, payload, object } = fieldsOf(chunk)
  const { stepResult, output, args, argsTextDelta, result, ...rest } = fieldsOf(payload)
  if (type === 'tool-call-approval' || type === 'tool-call-suspended') {
    return toRequestPart(type, fieldsOf(payload))
  }
  if (type === 'tripwire') return { type: 'finish', finishReason: 'tripwire' }
  if (type === 'object-result') return { type, object }
  if (type === 'finish') {
    return { type, finishReason: fieldsOf(stepResult).reason, totalUsage: fieldsOf(output).usage }
  }
  if (type === 'step-finish') {
    const { modelProvider, modelId } = fieldsOf(fieldsOf(rest.metadata).modelMetadata)
    return {
      type: 'finish-step',
      model: nameOf(modelOf({ provider: modelProvider, modelId })),
      finishReason: fieldsOf(stepResult).reason,
      usage: fieldsOf(output).usage,
    }
  }
  if (type === 'file') {
    return { type, file: { base64: rest.base64 ?? rest.data, mediaType: rest.mimeType } }
  }
  return { ...rest, type: NAMES.get(type) ?? type, input: args, delta: argsTextDelta, output: result }
}
