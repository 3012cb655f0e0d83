/**
 * Agents of VoltAgent. Their streams have parts of the AI SDK.
 *
 * @module
 */

import { ownerOf } from '../../agents/memory.ts'
import { nameOf } from '../../agents/usage.ts'
import type { Adapter } from './adapter.ts'
import { decidedMessages, messagesIn, repeatCalls } from './ai-sdk/ai-approvals.ts'
import { messagesOf, toAiInput } from './ai-sdk/ai-messages.ts'
import { AiParts } from './ai-sdk/ai-parts.ts'
import { modelOf, toolsOf } from './facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, listIn, textIn } from './fields.ts'
import { threadOf } from './history.ts'

/** A run with a `sessionId` has its conversation in the agent's memory. */
export const voltAgent: Adapter = {
  what: 'a VoltAgent agent',
  recognizes: value => hasMethods(value, 'generateText', 'streamText', 'getFullState'),
  factsOf(agent) {
    const { name, id, purpose, model } = fieldsOf(agent)
    const tools = hasMethods(agent, 'getTools') ? callMethod(agent, 'getTools') : undefined
    return { name: name ?? id, description: textIn(purpose), model: modelOf(model), tools: toolsOf(tools) }
  },
  async *run(agent, input, context, _, before) {
    const { signal } = context
    const userId = ownerOf(context)
    const conversationId = threadOf(context)
    const options = {
      abortSignal: signal,
      ...(conversationId !== undefined && { conversationId }),
      ...(userId !== undefined && { userId }),
    }
    const model = nameOf(modelOf(fieldsOf(agent).model))
    const parts = new AiParts({ model, keepsCalls: context.work.keepsCalls })
    const prompt = before ? decidedMessages(before, context) : toAiInput(input, context.history)
    if (before) yield* repeatCalls(before, parts)
    const result = fieldsOf(await callMethod(agent, 'streamText', prompt, options))
    for await (const part of itemsOf(result.fullStream)) yield* parts.read(withoutStack(part))
    const { asked, outcome } = parts
    if (asked.length === 0) return outcome
    const given = messagesOf(prompt)
    const answered = await messagesIn(result)
    const remembers = conversationId !== undefined && userId !== undefined && fieldsOf(agent).memory !== false
    if (!remembers) return { ...outcome, asked, state: () => ({ messages: [...given, ...answered] }) }
    // VoltAgent's memory has the rest, so passing it would repeat it.
    const open = new Set(
      [...asked, ...(before?.waiting ?? []).map(each => each.request)].map(each => each.toolCallId),
    )
    const messages = [...(before ? given : []), ...answered.flatMap(message => partsFor(open, message))]
    return { ...outcome, asked, state: () => ({ messages }) }
  },
}

/** A message with only the parts of these calls. */
function partsFor(calls: ReadonlySet<unknown>, message: unknown): object[] {
  const content = listIn(fieldsOf(message).content).filter(part => calls.has(fieldsOf(part).toolCallId))
  return content.length === 0 ? [] : [{ ...fieldsOf(message), content }]
}

/** VoltAgent returns a tool's error as a result with its stack. This makes it an error with only its text. */
function withoutStack(part: unknown): unknown {
  const { type, output, ...rest } = fieldsOf(part)
  const { error, message, stack } = fieldsOf(output)
  if (type !== 'tool-result' || error !== true || typeof stack !== 'string') return part
  return { ...rest, type: 'tool-error', error: { message } }
}
