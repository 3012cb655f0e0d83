/**
 * Agents of the AI SDK, versions 6 and 7: `ToolLoopAgent`, and whatever else has its `Agent` interface.
 *
 * @module
 */

import type { RunInput, RunOutcome } from '../agents/contract.ts'
import type { RunContext, Yielded } from '../agents/perform.ts'
import { nameOf } from '../agents/usage.ts'
import type { Adapter, Facts } from './adapter.ts'
import { toAiInput } from './ai-messages.ts'
import { AiParts } from './ai-parts.ts'
import { modelOf, toolsOf } from './facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, objectIn } from './fields.ts'
import { earlierOf } from './window.ts'

/** Its interface has no memory: what was said in the session comes before the prompt. */
export const aiSdk: Adapter = {
  what: 'an AI SDK agent (`ToolLoopAgent`)',
  recognizes: value => fieldsOf(value).version === 'agent-v1' && hasMethods(value, 'stream'),
  factsOf(agent) {
    const { id, tools, settings } = fieldsOf(agent)
    const { output } = fieldsOf(settings)
    const isText = fieldsOf(output).name === 'text'
    return { name: id, tools: toolsOf(tools), model: modelIn(settings), output: isText ? undefined : output }
  },
  run: runAgent,
}

/** Text names a model of the SDK's gateway, whatever stands before its slash. */
function modelIn(settings: unknown): Facts['model'] {
  const { model } = fieldsOf(settings)
  return typeof model === 'string' ? { provider: 'gateway', id: model } : modelOf(model)
}

async function* runAgent(
  agent: unknown,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<Yielded, RunOutcome> {
  keepQuiet(agent)
  const earlier = await earlierOf(context)
  const prompt = toAiInput(input, context.history)
  const asked = earlier.length === 0 ? { prompt } : { messages: [...earlier, ...messagesOf(prompt)] }
  const parts = new AiParts({ model: nameOf(modelIn(fieldsOf(agent).settings)) })
  const result = fieldsOf(await callMethod(agent, 'stream', { ...asked, abortSignal: context.signal }))
  for await (const part of itemsOf(result.stream ?? result.fullStream)) yield* parts.read(part)
  const { outcome } = parts
  const structured = outcome.finishReason === 'stop' ? await outputOf(result) : undefined
  return { ...outcome, ...(structured && { structured }) }
}

function messagesOf(prompt: unknown): readonly unknown[] {
  return Array.isArray(prompt) ? prompt : [{ role: 'user', content: prompt }]
}

/**
 * Gives the agent's settings an `onError` where they have none: the SDK's own writes the whole error to the console, with
 * the prompt and what the provider said of the key. The run fails with it all the same. The agent itself is changed, and
 * not a copy of it: a class of its user may have private members.
 */
function keepQuiet(agent: unknown): void {
  const settings = objectIn(fieldsOf(agent).settings)
  if (settings === undefined || fieldsOf(settings).onError != null) return
  // An agent that is frozen stays as it is.
  Reflect.set(Object(agent), 'settings', { ...settings, onError() {}, ...quietPrepareCall(settings) })
}

/** In version 6 what `prepareCall` gives is all that counts, also where it leaves `onError` out. */
function quietPrepareCall(settings: object): object {
  if (!hasMethods(settings, 'prepareCall')) return {}
  return {
    async prepareCall(call: unknown) {
      const prepared = objectIn(await callMethod(settings, 'prepareCall', call))
      return prepared && { onError() {}, ...prepared }
    },
  }
}

/** The structured output; undefined where the output is text, or there is none. */
async function outputOf(result: { readonly output?: unknown }): Promise<object | undefined> {
  try {
    return objectIn(await result.output)
  } catch (error) {
    // It was asked for and does not fit: that is a failure. Other errors say that there is no output.
    if (fieldsOf(error).name === 'AI_NoObjectGeneratedError') throw error
    return undefined
  }
}
