import type { FinishReason, RunEvent } from '../../../agents/contract.ts'
import { parseArgs } from '../../../agents/fold.ts'
import { modelCall, toFinishReason, toUsage } from '../ending.ts'
import { fieldsOf, listIn, textIn, type UnknownFields } from '../fields.ts'
import { ToolCalls } from '../tool-calls.ts'

/** The providers' events with a model's reasoning. */
const THINKING: ReadonlySet<unknown> = new Set([
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
])

/** Reads the stream events of one run of OpenAI's Agents SDK, in order. */
export class OpenAiEvents {
  readonly #calls = new ToolCalls()
  #reason: FinishReason = 'stop'
  #model: string | undefined
  /** When the model was called. */
  #askedAt = performance.now()
  /** Why its answer ended, in the provider's word. */
  #endReason: unknown

  /** `model` is that of the first agent: `provider/id`. */
  constructor(model?: string) {
    this.#model = model
  }

  /** The reason why the model's last answer ended, if the provider's events have it. */
  get finishReason(): FinishReason {
    return this.#reason
  }

  /** The events of one SDK event. */
  *read(event: unknown): Generator<RunEvent> {
    const { type, data, name, item, agent } = fieldsOf(event)
    if (type === 'agent_updated_stream_event') this.#model = modelOf(fieldsOf(agent).model)
    if (type === 'raw_model_stream_event') yield* this.#readModel(fieldsOf(data))
    if (type === 'run_item_stream_event') yield* this.readItem(name, fieldsOf(item))
  }

  *#readModel(data: UnknownFields): Generator<RunEvent> {
    const text = textIn(data.delta)
    if (data.type === 'output_text_delta' && text !== undefined) yield { type: 'text', text }
    if (data.type === 'response_done') yield this.#modelCall(fieldsOf(data.response))
    if (data.type !== 'model') return
    const { type, delta, choices } = fieldsOf(data.event)
    const thought = THINKING.has(type) ? textIn(delta) : reasoningIn(choices)
    if (thought !== undefined) yield { type: 'thinking', text: thought }
    const reason = fieldsOf(listIn(choices)[0]).finish_reason
    if (reason == null) return
    this.#endReason = reason
    this.#reason = toFinishReason(reason)
  }

  #modelCall({ usage, output, providerData }: UnknownFields): RunEvent {
    const now = performance.now()
    const durationMs = now - this.#askedAt
    const finishReason = this.#endReason ?? reasonOf(output, fieldsOf(providerData).status)
    this.#askedAt = now
    this.#endReason = undefined
    return modelCall({ model: this.#model, usage: toUsage(usage), finishReason, durationMs })
  }

  /** Yields the events of one item. A run that goes on may read an item again. */
  *readItem(name: unknown, item: UnknownFields): Generator<RunEvent> {
    const call = fieldsOf(item.rawItem)
    const id = textIn(call.callId) ?? textIn(call.id)
    if (id === undefined) return
    if (name === 'tool_called') {
      yield* this.#calls.start(id, call.name ?? call.type)
      yield* this.#calls.args(id, call.arguments)
      const args = textIn(call.arguments)
      yield* this.#calls.ready(id, args && parseArgs(args))
      // A tool that OpenAI hosts has ended when its call arrives.
      if (call.type === 'hosted_tool_call') yield* this.#calls.end(id, { result: call.output })
    }
    if (name !== 'tool_output') return
    this.#askedAt = performance.now()
    yield* this.#calls.end(id, { result: item.output })
  }
}

/** The named model of an agent, as `provider/id`. Names are OpenAI's unless a runner has another provider. */
export function modelOf(model: unknown): string | undefined {
  const id = textIn(model)
  return id === undefined ? undefined : `openai/${id}`
}

/** Why a response ended. Its status is `completed` also for one that calls tools. */
function reasonOf(output: unknown, status: unknown): string | undefined {
  if (listIn(output).some(item => fieldsOf(item).type === 'function_call')) return 'tool_calls'
  return status === 'completed' ? 'stop' : undefined
}

/** The reasoning in a chat completion, if its provider sends it. */
function reasoningIn(choices: unknown): string | undefined {
  const { reasoning_content: content, reasoning } = fieldsOf(fieldsOf(listIn(choices)[0]).delta)
  return textIn(content) ?? textIn(reasoning)
}
