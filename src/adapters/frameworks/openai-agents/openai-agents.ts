/**
 * Agents of OpenAI's Agents SDK. The user gives the package's `run` or a `Runner`, which runs them.
 *
 * @module
 */

import type { RunInput, RunResult, Usage } from '../../../agents/contract.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { ServableError } from '../../../base/errors.ts'
import type { Adapter } from '../adapter.ts'
import { toUsage } from '../ending.ts'
import { toolsOf } from '../facts.ts'
import {
  callMethod,
  fieldsOf,
  hasMethods,
  itemsOf,
  listIn,
  objectIn,
  textIn,
  type UnknownFields,
} from '../fields.ts'
import { earlierOf, threadOf } from '../history.ts'
import { Steers } from '../steers.ts'
import { asksIn, goOn, usedSince } from './openai-approvals.ts'
import { modelOf, OpenAiEvents } from './openai-events.ts'
import { toOpenAiInput, toOpenAiMessage, userItem } from './openai-messages.ts'

/**
 * With a `sessionId` a run uses the session that the option `session` opens. Without the option, earlier messages precede the
 * input.
 */
export const openaiAgents: Adapter = {
  what: 'an OpenAI Agents agent (with `{ run }`)',
  steers: true,
  recognizes: value =>
    'handoffs' in fieldsOf(value) && hasMethods(value, 'asTool') && 'outputType' in fieldsOf(value),
  options: ['run', 'session', 'RunState'],
  check({ run }) {
    if (typeof run === 'function' || hasMethods(run, 'run')) return
    const text =
      "an OpenAI Agents agent needs its runner: give `{ run }` from '@openai/agents', or a `Runner`"
    throw new ServableError('invalid_options', `\`servable\`: ${text}`)
  },
  factsOf(agent) {
    const { name, handoffDescription, model, tools, outputType } = fieldsOf(agent)
    const id = textIn(model)
    return {
      name,
      description: textIn(handoffDescription),
      // A model without a provider is OpenAI's, unless a runner has another provider.
      model: id === undefined ? undefined : { provider: 'openai', id },
      tools: toolsOf(tools),
      // The output is text unless it is a schema.
      output: objectIn(outputType),
    }
  },
  async *run(agent, input, context, options, before) {
    const thread = threadOf(context)
    const session = thread === undefined ? undefined : await options.session?.(thread, context)
    const steers = new Steers(context, userItem, before?.state.taken)
    const settings = {
      ...{ stream: true, signal: context.signal },
      ...(objectIn(session) && { session }),
      ...(steers.isOpen && { callModelInputFilter: filterOf(options.run, steers) }),
    }
    const events = new OpenAiEvents(modelOf(fieldsOf(agent).model))
    try {
      const goingOn = before && (await goOn(agent, options.RunState, before, context))
      for (const item of goingOn?.items ?? []) yield* events.readItem('tool_called', item)
      const given = goingOn ? goingOn.state : await inputOf(input, context, objectIn(session) !== undefined)
      const stream = await start(options.run, agent, given, settings)
      for await (const event of itemsOf(stream)) {
        yield* steers.events()
        yield* events.read(event)
      }
      await stream.completed
      if (context.signal.aborted) return { finishReason: 'cancelled' }
      const asked = asksIn(stream, options.RunState)
      const state = () => ({ run: callMethod(stream.state, 'toString'), taken: steers.taken })
      return { ...outcomeOf(stream, events, goingOn?.used), asked, state }
    } catch (error) {
      if (!/GuardrailTripwireTriggered$/.test(String(fieldsOf(fieldsOf(error).constructor).name))) throw error
      return { finishReason: 'rejected' }
    }
  },
}

/** The input of the agent. If it has a session of its own, that has the earlier messages. */
async function inputOf(input: RunInput, context: RunContext, hasSession: boolean): Promise<unknown> {
  const earlier = hasSession ? [] : (await earlierOf(context)).map(toOpenAiMessage)
  const own = toOpenAiInput(input, context.history)
  if (earlier.length === 0) return own
  return [...earlier, ...(typeof own === 'string' ? [toOpenAiMessage({ role: 'user', content: own })] : own)]
}

/** Adds the messages that have come to what the model is told. It replaces the filter of a `Runner`, and calls it. */
function filterOf(run: unknown, steers: Steers): (call: object) => Promise<unknown> {
  const { callModelInputFilter: own } = fieldsOf(fieldsOf(run).config)
  return async call => {
    const data = fieldsOf(fieldsOf(call).modelData)
    const modelData = { ...data, input: await steers.take(listIn(data.input)) }
    return typeof own === 'function' ? own({ ...call, modelData }) : modelData
  }
}

async function start(run: unknown, ...args: readonly unknown[]): Promise<UnknownFields> {
  const started = typeof run === 'function' ? run(...args) : callMethod(run, 'run', ...args)
  const stream = fieldsOf(await started)
  // It rejects with the error of the iteration, which reports it.
  void Promise.resolve(stream.completed).catch(() => {})
  return stream
}

function outcomeOf(
  stream: UnknownFields,
  { finishReason }: OpenAiEvents,
  used: Usage | undefined,
): Partial<RunResult> {
  const usage = usedSince(toUsage(fieldsOf(stream.runContext).usage), used)
  const waits = listIn(stream.interruptions).length > 0
  const structured = waits ? undefined : objectIn(stream.finalOutput)
  return {
    finishReason: waits ? 'input_required' : finishReason,
    ...(usage && { usage }),
    ...(structured && { structured }),
  }
}
