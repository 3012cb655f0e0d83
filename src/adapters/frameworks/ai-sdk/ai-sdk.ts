/**
 * Agents of the AI SDK, versions 6 and 7: `ToolLoopAgent` and everything else with its `Agent` interface.
 *
 * @module
 */

import { nameOf } from '../../../agents/usage.ts'
import type { Adapter, AgentFacts } from '../adapter.ts'
import { modelOf, toolsOf } from '../facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, listIn, objectIn } from '../fields.ts'
import { earlierOf } from '../history.ts'
import { Steers } from '../steers.ts'
import { decidedMessages, messagesIn, repeatCalls } from './ai-approvals.ts'
import { messagesOf, toAiInput, userMessage } from './ai-messages.ts'
import { AiParts } from './ai-parts.ts'

/** The interface has no memory, so the messages of the session come before the prompt. */
export const aiSdk: Adapter = {
  what: 'an AI SDK agent (`ToolLoopAgent`)',
  steers: true,
  recognizes: value => fieldsOf(value).version === 'agent-v1' && hasMethods(value, 'stream'),
  factsOf(agent) {
    const { id, tools, settings } = fieldsOf(agent)
    const { output } = fieldsOf(settings)
    const isText = fieldsOf(output).name === 'text'
    return { name: id, tools: toolsOf(tools), model: modelIn(settings), output: isText ? undefined : output }
  },
  async *run(agent, input, context, _, before) {
    keepQuiet(agent)
    const prompt = toAiInput(input, context.history)
    const earlier = before ? decidedMessages(before, context) : await earlierOf(context)
    const messages = before ? earlier : [...earlier, ...messagesOf(prompt)]
    const given = earlier.length === 0 ? { prompt } : { messages }
    const model = nameOf(modelIn(fieldsOf(agent).settings))
    const parts = new AiParts({ model, keepsCalls: context.work.keepsCalls })
    const onStepStart = parts.kept?.begin
    const steers = new Steers(context, userMessage)
    if (before) yield* repeatCalls(before, parts)
    const result = fieldsOf(
      await callMethod(agent, 'stream', {
        ...given,
        abortSignal: context.signal,
        ...(onStepStart && { onStepStart }),
        ...(steers.isOpen && { prepareStep: prepareStepOf(agent, steers) }),
      }),
    )
    for await (const part of itemsOf(result.stream ?? result.fullStream)) {
      yield* steers.events()
      yield* parts.read(part)
    }
    const { asked, outcome } = parts
    if (asked.length > 0) {
      const all = steers.into([...messages, ...(await messagesIn(result))])
      return { ...outcome, asked, state: () => ({ messages: all }) }
    }
    const structured = outcome.finishReason === 'stop' ? await outputOf(result) : undefined
    return { ...outcome, ...(structured && { structured }) }
  },
}

/**
 * Adds the messages that have come to each step. The agent spreads the options of a call over its settings, so this replaces their
 * `prepareStep`, and calls it.
 */
function prepareStepOf(agent: unknown, steers: Steers): (step: object) => Promise<object> {
  const settings = objectIn(fieldsOf(agent).settings)
  return async step => {
    const messages = await steers.take(listIn(fieldsOf(step).messages))
    const own = hasMethods(settings, 'prepareStep')
      ? objectIn(await callMethod(settings, 'prepareStep', { ...step, messages }))
      : undefined
    return { messages, ...own }
  }
}

/** Returns the model of the settings. A text is a model of the SDK's gateway, whatever is before its slash. */
function modelIn(settings: unknown): AgentFacts['model'] {
  const { model } = fieldsOf(settings)
  return typeof model === 'string' ? { provider: 'gateway', id: model } : modelOf(model)
}

/**
 * Gives the agent's settings an `onError` if they have none. The SDK's default writes the whole error to the console, with
 * the prompt and the provider's words about the key. The run still fails with the error. This changes the agent itself, since
 * a copy of a user's class could lack its private members.
 */
function keepQuiet(agent: unknown): void {
  const settings = objectIn(fieldsOf(agent).settings)
  if (settings === undefined || fieldsOf(settings).onError != null) return
  // A frozen agent stays unchanged.
  Reflect.set(Object(agent), 'settings', { ...settings, onError() {}, ...quietPrepareCall(settings) })
}

/** In version 6 the result of `prepareCall` replaces all settings, even if it has no `onError`. */
function quietPrepareCall(settings: object): object {
  if (!hasMethods(settings, 'prepareCall')) return {}
  return {
    async prepareCall(call: unknown) {
      const prepared = objectIn(await callMethod(settings, 'prepareCall', call))
      return prepared && { onError() {}, ...prepared }
    },
  }
}

/** The structured output. Undefined if the output is text or missing. */
async function outputOf(result: { readonly output?: unknown }): Promise<object | undefined> {
  try {
    return objectIn(await result.output)
  } catch (error) {
    // The output was requested but does not fit, so the run fails. Other errors mean that there is no output.
    if (fieldsOf(error).name === 'AI_NoObjectGeneratedError') throw error
    return undefined
  }
}
