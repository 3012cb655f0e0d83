/**
 * Agents of the AI SDK, versions 6 and 7: `ToolLoopAgent` and everything else with its `Agent` interface.
 *
 * @module
 */

import type { RunInput, RunOutcome } from '../agents/contract.ts'
import type { RunContext, Yielded } from '../agents/perform.ts'
import type { Adapter } from './adapter.ts'
import { toAiInput } from './ai-messages.ts'
import { AiParts } from './ai-parts.ts'
import { modelOf, toolsOf } from './facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, objectIn } from './fields.ts'

/** The `Agent` interface has no memory, so agents do not get `sessionId` and `userId`. */
export const aiSdk: Adapter = {
  what: 'an AI SDK agent (`ToolLoopAgent`)',
  recognizes: value => fieldsOf(value).version === 'agent-v1' && hasMethods(value, 'stream'),
  factsOf(agent) {
    const { id, tools, settings } = fieldsOf(agent)
    const { model, output } = fieldsOf(settings)
    // A text is the name of a model of the SDK's gateway. The part before its slash does not matter.
    const known = typeof model === 'string' ? { provider: 'gateway', id: model } : modelOf(model)
    const isText = fieldsOf(output).name === 'text'
    return { name: id, tools: toolsOf(tools), model: known, output: isText ? undefined : output }
  },
  run: runAgent,
}

async function* runAgent(
  agent: unknown,
  input: RunInput,
  { signal }: RunContext,
): AsyncGenerator<Yielded, RunOutcome> {
  keepQuiet(agent)
  const result = fieldsOf(
    await callMethod(agent, 'stream', { prompt: toAiInput(input), abortSignal: signal }),
  )
  const parts = new AiParts()
  for await (const part of itemsOf(result.stream ?? result.fullStream)) yield* parts.read(part)
  const { outcome } = parts
  const structured = outcome.finishReason === 'stop' ? await outputOf(result) : undefined
  return { ...outcome, ...(structured && { structured }) }
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
