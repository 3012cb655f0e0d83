import type { FinishReason, RunEvent } from '../../../agents/contract.ts'
import { parseArgs } from '../../../agents/fold.ts'
import { modelCall, toFinishReason, toUsage } from '../ending.ts'
import { type Fields, fieldsOf, listIn, textIn } from '../fields.ts'
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
  /** When the model was asked. */
  #askedAt = performance.now()
  /** Why its answer ended, in the provider's word. */
  #told: unknown

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

  *#readModel(data: Fields): Generator<RunEvent> {
    const text = textIn(data.delta)
    if (data.type === 'output_text_delta' && text !== undefined) yield { type: 'text', text }
    if (data.type === 'response_done') yield this.#modelCall(fieldsOf(data.response))
    if (data.type !== 'model') return
    const { type, delta, choices } = fieldsOf(data.event)
    const thought = THINKING.has(type) ? textIn(delta) : reasoningIn(choices)
    if (thought !== undefined) yield { type: 'thinking', text: thought }
    const reason = fieldsOf(listIn(choices)[0]).finish_reason
    if (reason == null) return
    this.#told = reason
    this.#reason = toFinishReason(reason)
  }

  #modelCall({ usage, output, providerData }: Fields): RunEvent {
    const now = performance.now()
    const durationMs = now - this.#askedAt
    const finishReason = this.#told ?? reasonOf(output, fieldsOf(providerData).status)
    this.#askedAt = now
    this.#told = undefined
    return modelCall({ model: this.#model, usage: toUsage(usage), finishReason, durationMs })
  }

  /** The events of one item, which may be read again in a run that goes on. */
  *readItem(name: unknown, item: Fields): Generator<RunEvent> {
    const call = fieldsOf(item.rawItem)
    const id = textIn(call.callId) ?? textIn(call.id)
    if (id === undefined) return
    if (name === 'tool_called') {
      yield* this.#calls.start(id, call.name ?? call.type)
      yield* this.#calls.args(id, call.arguments)
      const args = textIn(call.arguments)
      yield* this.#calls.ready(id, args && parseArgs(args))
      // A tool that OpenAI hosts is over when it is told.
      if (call.type === 'hosted_tool_call') yield* this.#calls.end(id, { result: call.output })
    }
    if (name !== 'tool_output') return
    this.#askedAt = performance.now()
    yield* this.#calls.end(id, { result: item.output })
  }
}

/** The model of an agent that names one, as `provider/id`: names are OpenAI's unless a runner says otherwise. */
export function modelOf(model: unknown): string | undefined {
  const id = textIn(model)
  return id === undefined ? undefined : `openai/${id}`
}

/** Why a response ended, which its own status tells: one that asks for tools is completed too. */
function reasonOf(output: unknown, status: unknown): string | undefined {
  if (listIn(output).some(item => fieldsOf(item).type === 'function_call')) return 'tool_calls'
  return status === 'completed' ? 'stop' : undefined
}

/** What a chat completion's model thinks, where its provider tells that. */
function reasoningIn(choices: unknown): string | undefined {
  const { reasoning_content: content, reasoning } = fieldsOf(fieldsOf(listIn(choices)[0]).delta)
  return textIn(content) ?? textIn(reasoning)
}
