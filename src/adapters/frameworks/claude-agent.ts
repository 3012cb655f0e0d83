/**
 * Agents of the Claude Agent SDK: `{ name, description, query, options, processes }`. Each run has a process of the SDK, which ends with the run.
 *
 * @module
 */

import type { FinishReason, RunEvent, Usage } from '../../agents/contract.ts'
import { parseArgs } from '../../agents/fold.ts'
import { textOf } from '../../agents/input.ts'
import { ServableError } from '../../base/errors.ts'
import type { Adapter } from './adapter.ts'
import { modelCall, toFinishReason, toUsage } from './ending.ts'
import {
  callMethod,
  fieldsOf,
  hasMethods,
  itemsOf,
  listIn,
  numberIn,
  textIn,
  type UnknownFields,
} from './fields.ts'
import { ToolCalls } from './tool-calls.ts'

/** The processes of one agent at the same time, unless it sets `processes`. */
const PROCESSES = 8

/** The members of an agent. A value with others, such as the client of a database, is none. */
const KNOWN: ReadonlySet<string> = new Set(['name', 'description', 'query', 'options', 'processes'])

/** The time that the SDK has to interrupt a run before its process is ended. */
const INTERRUPT_MS = 2000

/** The adapter of one agent. It counts the agent's processes. */
export function claudeAgentSdk(): Adapter {
  let running = 0
  return {
    what: 'an agent of the Claude Agent SDK',
    recognizes: value =>
      hasMethods(value, 'query') &&
      Object.hasOwn(fieldsOf(value), 'query') &&
      Object.keys(fieldsOf(value)).every(key => KNOWN.has(key)),
    forAgent: claudeAgentSdk,
    factsOf(agent) {
      const { name, description, options } = fieldsOf(agent)
      const id = textIn(fieldsOf(options).model)
      const model = id === undefined ? undefined : { provider: 'anthropic', id }
      return { name, description: textIn(description), model }
    },
    async *run(agent, input, { signal }) {
      const { options, processes } = fieldsOf(agent)
      if (running >= (numberIn(processes) ?? PROCESSES)) {
        throw new ServableError('too_many_runs', 'The agent has as many processes as it may have')
      }
      signal.throwIfAborted()
      running++
      const abortController = new AbortController()
      const given = { ...fieldsOf(options), abortController, includePartialMessages: true }
      let timer: ReturnType<typeof setTimeout> | undefined
      let query: unknown
      const interrupt = () => {
        timer = setTimeout(() => abortController.abort(), INTERRUPT_MS)
        Promise.resolve(callMethod(query, 'interrupt')).catch(() => abortController.abort())
      }
      const events = new ClaudeEvents()
      try {
        query = callMethod(agent, 'query', { prompt: textOf(input), options: given })
        signal.addEventListener('abort', interrupt, { once: true })
        for await (const message of itemsOf(query)) {
          if (fieldsOf(message).type === 'result') signal.throwIfAborted()
          yield* events.read(fieldsOf(message))
        }
        signal.throwIfAborted()
        return events.outcome
      } finally {
        signal.removeEventListener('abort', interrupt)
        clearTimeout(timer)
        abortController.abort()
        if (hasMethods(query, 'close')) callMethod(query, 'close')
        running--
      }
    },
  }
}

/** Reads the messages of one run of the SDK, in order. Messages of subagents yield nothing. */
class ClaudeEvents {
  readonly #calls = new ToolCalls()
  /** The ids of the tool calls by the index of their block, and their arguments until now. */
  readonly #blocks = new Map<unknown, { readonly id: string; json: string }>()
  #model: string | undefined
  #input: unknown
  #reason: FinishReason = 'stop'
  #usage: Usage | undefined
  #askedAt = performance.now()

  /** The end of the run. */
  get outcome() {
    return { finishReason: this.#reason, ...(this.#usage && { usage: this.#usage }) }
  }

  /** Yields the events of one message. Throws if it says that the run failed. */
  *read(message: UnknownFields): Generator<RunEvent> {
    if (message.parent_tool_use_id != null) return
    const { content } = fieldsOf(message.message)
    if (message.type === 'stream_event') yield* this.#readStream(fieldsOf(message.event))
    if (message.type === 'user') for (const block of listIn(content)) yield* this.#readResult(fieldsOf(block))
    if (message.type === 'result') this.#finish(message)
  }

  *#readStream(event: UnknownFields): Generator<RunEvent> {
    const block = fieldsOf(event.content_block)
    const id = textIn(block.id)
    if (event.type === 'message_start') {
      const { model, usage } = fieldsOf(event.message)
      this.#model = textIn(model) && `anthropic/${model}`
      this.#input = inputTokens(fieldsOf(usage))
      this.#blocks.clear()
    } else if (event.type === 'content_block_start' && block.type === 'tool_use' && id !== undefined) {
      this.#blocks.set(event.index, { id, json: '' })
      yield* this.#calls.start(id, block.name)
    } else if (event.type === 'content_block_delta') {
      yield* this.#readDelta(event.index, fieldsOf(event.delta))
    } else if (event.type === 'content_block_stop') {
      const call = this.#blocks.get(event.index)
      if (call) yield* this.#calls.ready(call.id, call.json === '' ? {} : parseArgs(call.json))
    } else if (event.type === 'message_delta') {
      yield this.#modelCall(event)
    }
  }

  *#readDelta(index: unknown, delta: UnknownFields): Generator<RunEvent> {
    const [text, thinking, json] = [textIn(delta.text), textIn(delta.thinking), textIn(delta.partial_json)]
    if (text !== undefined) yield { type: 'text', text }
    if (thinking !== undefined) yield { type: 'thinking', text: thinking }
    const call = this.#blocks.get(index)
    if (json === undefined || call === undefined) return
    call.json += json
    yield* this.#calls.args(call.id, json)
  }

  #modelCall({ delta, usage }: UnknownFields): RunEvent {
    const durationMs = performance.now() - this.#askedAt
    const counted = fieldsOf(usage)
    return modelCall({
      model: this.#model,
      usage: toUsage({
        input_tokens: inputTokens(counted) || this.#input,
        output_tokens: counted.output_tokens,
      }),
      finishReason: fieldsOf(delta).stop_reason,
      durationMs,
    })
  }

  *#readResult({ type, tool_use_id: id, content, is_error: failed }: UnknownFields): Generator<RunEvent> {
    this.#askedAt = performance.now()
    if (type !== 'tool_result' || typeof id !== 'string') return
    const texts = listIn(content).flatMap(part => textIn(fieldsOf(part).text) ?? [])
    const text = textIn(content) ?? texts.join('\n')
    yield* this.#calls.end(id, failed === true ? { error: text } : { result: text })
  }

  #finish({ subtype, is_error: failed, result, usage, stop_reason: reason, errors }: UnknownFields): void {
    const counted = fieldsOf(usage)
    this.#usage = toUsage({ input_tokens: inputTokens(counted), output_tokens: counted.output_tokens })
    this.#reason = subtype === 'error_max_turns' ? 'length' : toFinishReason(reason)
    if (failed !== true || subtype === 'error_max_turns') return
    const text =
      textIn(result) ?? textIn(listIn(errors)[0]) ?? 'The Claude Agent SDK failed without saying why'
    throw new ServableError('provider_failed', text)
  }
}

/** All input tokens: Anthropic counts those of its cache apart. */
function inputTokens(usage: UnknownFields): number {
  const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage
  return [fresh, read, written].reduce<number>((sum, each) => sum + (numberIn(each) ?? 0), 0)
}
