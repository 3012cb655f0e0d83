import type { FinishReason, RunEvent } from '../agents/contract.ts'
import { toFinishReason } from './ending.ts'
import { type Fields, fieldsOf, listIn, textIn } from './fields.ts'
import { ToolCalls } from './tool-calls.ts'

/** The providers' events with a model's reasoning. */
const THINKING: ReadonlySet<unknown> = new Set([
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
])

/** Reads the stream events of one run of OpenAI's Agents SDK, in order. */
export class OpenAiEvents {
  readonly #calls = new ToolCalls()
  #reason: FinishReason = 'stop'

  /** The reason why the model's last answer ended, if the provider's events have it. */
  get finishReason(): FinishReason {
    return this.#reason
  }

  /** The events of one SDK event. */
  *read(event: unknown): Generator<RunEvent> {
    const { type, data, name, item } = fieldsOf(event)
    if (type === 'raw_model_stream_event') yield* this.#readModel(fieldsOf(data))
    if (type === 'run_item_stream_event') yield* this.#readItem(name, fieldsOf(item))
  }

  *#readModel(data: Fields): Generator<RunEvent> {
    const text = textIn(data.delta)
    if (data.type === 'output_text_delta' && text !== undefined) yield { type: 'text', text }
    if (data.type !== 'model') return
    const { type, delta, choices } = fieldsOf(data.event)
    const thought = THINKING.has(type) ? textIn(delta) : reasoningIn(choices)
    if (thought !== undefined) yield { type: 'thinking', text: thought }
    const reason = fieldsOf(listIn(choices)[0]).finish_reason
    if (reason != null) this.#reason = toFinishReason(reason)
  }

  *#readItem(name: unknown, item: Fields): Generator<RunEvent> {
    const call = fieldsOf(item.rawItem)
    const id = textIn(call.callId) ?? textIn(call.id)
    if (id === undefined) return
    if (name === 'tool_called') {
      yield* this.#calls.start(id, call.name ?? call.type)
      yield* this.#calls.args(id, call.arguments)
      // A tool that OpenAI hosts has ended when its event comes.
      if (call.type === 'hosted_tool_call') yield* this.#calls.end(id, { result: call.output })
    }
    if (name === 'tool_output') yield* this.#calls.end(id, { result: item.output })
  }
}

/** The reasoning in a chat completion, if the provider sends it. */
function reasoningIn(choices: unknown): string | undefined {
  const { reasoning_content: content, reasoning } = fieldsOf(fieldsOf(listIn(choices)[0]).delta)
  return textIn(content) ?? textIn(reasoning)
}
