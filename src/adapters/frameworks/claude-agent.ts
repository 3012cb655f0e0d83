/**
 * Agents of the Claude Agent SDK: `{ name, description, query, options, processes }`. Each run has a process of the SDK, which ends with the run.
 *
 * @module
 */

import type { FinishReason, InputRequest, RunEvent, Usage } from '../../agents/contract.ts'
import { parseArgs } from '../../agents/fold.ts'
import { addUsage, NO_USAGE } from '../../agents/usage.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { ServableError } from '../../base/errors.ts'
import type { Adapter, AdapterEnd } from './adapter.ts'
import { toClaudeContent } from './claude-input.ts'
import { type KeptTranscript, pastOf, Transcript } from './claude-transcript.ts'
import { modelCall, toFinishReason, toUsage } from './ending.ts'
import {
  callMethod,
  fieldsOf,
  hasMethods,
  itemsOf,
  listIn,
  numberIn,
  objectIn,
  textIn,
  type UnknownFields,
} from './fields.ts'
import { ToolCalls } from './tool-calls.ts'
import { type AgentRequest, answerTo, type Before, lost } from './waits.ts'

/** The processes of one agent at the same time, unless it sets `processes`. */
const PROCESSES = 8

/** The members of an agent. A value with others, such as the client of a database, is none. */
const KNOWN: ReadonlySet<string> = new Set(['name', 'description', 'query', 'options', 'processes'])

/** The time that the SDK has to interrupt a run before its process is ended. */
const INTERRUPT_MS = 2000

/** The time that the SDK has to write a call that waits. */
const WRITE_MS = 5000

/** The ends of runs that have reached a limit of `options`. */
const LIMITS: ReadonlySet<unknown> = new Set(['error_max_turns', 'error_max_budget_usd'])

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
    async *run(agent, input, context, _, before) {
      const { signal } = context
      if (running >= (numberIn(fieldsOf(agent).processes) ?? PROCESSES)) {
        throw new ServableError('too_many_runs', 'The agent has as many processes as it may have')
      }
      running++
      try {
        const past = before ? { kept: keptIn(before), earlier: [] } : await pastOf(context)
        const content = before ? undefined : toClaudeContent(input, past.earlier)
        const turn = new ClaudeTurn(agent, content, past.kept, before && decisionsOf(before, context), signal)
        const end = yield* turn.run()
        if (end.asked === undefined) await turn.transcript.remember(context, input, turn.text)
        return end
      } finally {
        running--
      }
    },
  }
}

/** What a person decided of a call. */
interface Decision {
  readonly request: InputRequest
  readonly answer: UnknownFields
}

function keptIn({ state }: Before): KeptTranscript {
  return fieldsOf(state.transcript) as unknown as KeptTranscript
}

function decisionsOf({ waiting }: Before, context: RunContext): ReadonlyMap<unknown, Decision> {
  return new Map(waiting.map(each => [each.key, { request: each.request, answer: answerTo(each, context) }]))
}

/** One process of the SDK. It has ended when `run` has. */
class ClaudeTurn {
  readonly transcript: Transcript
  readonly #agent: unknown
  readonly #content: readonly object[] | undefined
  readonly #decisions: ReadonlyMap<unknown, Decision>
  readonly #signal: AbortSignal
  readonly #abort = new AbortController()
  readonly #events = new ClaudeEvents()
  /** Ends the input of the SDK. */
  #end: () => void = () => {}
  readonly #ended = new Promise<void>(resolve => {
    this.#end = resolve
  })
  #query: unknown
  #isStopped = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #asked: (AgentRequest & { readonly kept?: KeptTranscript | undefined }) | undefined

  constructor(
    agent: unknown,
    content: readonly object[] | undefined,
    kept: KeptTranscript | undefined,
    decisions: ReadonlyMap<unknown, Decision> = new Map(),
    signal: AbortSignal,
  ) {
    this.#agent = agent
    this.#content = content
    this.#decisions = decisions
    this.#signal = signal
    this.transcript = new Transcript(kept)
  }

  /** What the agent has said. */
  get text(): string {
    return this.#events.text
  }

  async *run(): AsyncGenerator<RunEvent, AdapterEnd> {
    for (const [id, { request }] of this.#decisions) {
      yield* this.#events.readCall(String(id), request.toolName, request.args)
    }
    this.#signal.throwIfAborted()
    try {
      this.#query = callMethod(this.#agent, 'query', { prompt: this.#prompt(), options: this.#options() })
      this.#signal.addEventListener('abort', this.#interrupt, { once: true })
      yield* this.#read()
    } finally {
      this.#signal.removeEventListener('abort', this.#interrupt)
      clearTimeout(this.#timer)
      this.#stop()
      this.#end()
    }
    this.#signal.throwIfAborted()
    if (this.#asked === undefined) return this.#events.outcome
    const { kept: transcript, ...asked } = this.#asked
    yield* this.#events.endOthers(asked.key)
    if (transcript === undefined) throw lost('The Claude Agent SDK did not write the call that waits')
    return {
      ...this.#events.outcome,
      finishReason: 'input_required',
      asked: [asked],
      state: () => ({ transcript }),
    }
  }

  /** Reads the events up to the end, or up to a call that waits. */
  async *#read(): AsyncGenerator<RunEvent> {
    try {
      for await (const message of itemsOf(this.#query)) {
        const isEnd = fieldsOf(message).type === 'result'
        if (isEnd) this.#signal.throwIfAborted()
        // The SDK has been ended for a call that waits. What it still says is not in the transcript.
        if (this.#isStopped) continue
        yield* this.#events.read(fieldsOf(message))
        if (isEnd) this.#end()
        this.#stopIfKept()
      }
    } catch (error) {
      if (this.#asked === undefined) throw error
    }
  }

  /** One message. The input stays open, since the SDK asks for permissions only then. */
  async *#prompt(): AsyncGenerator<object> {
    const message = { role: 'user', content: this.#content }
    if (this.#content !== undefined) yield { type: 'user', message, parent_tool_use_id: null }
    await this.#ended
  }

  #options(): object {
    const given = fieldsOf(fieldsOf(this.#agent).options)
    const fixed = { abortController: this.#abort, includePartialMessages: true }
    if (given.persistSession === false) return { ...given, ...fixed }
    return { canUseTool: this.#mayUse, ...given, ...fixed, ...this.transcript.options }
  }

  /** Answers a permission request, or ends the SDK so that a person can be asked. */
  readonly #mayUse = async (toolName: string, args: unknown, more: unknown): Promise<object> => {
    const { toolUseID, agentID, title } = fieldsOf(more)
    const decided = this.#decisions.get(toolUseID)
    const id = textIn(toolUseID)
    if (decided !== undefined) return toPermission(decided)
    if (id === undefined || agentID !== undefined) {
      return { behavior: 'deny', message: 'No person can be asked about this call' }
    }
    if (this.#asked === undefined) {
      const message = textIn(title)
      const request = { key: id, kind: 'approval', toolCallId: id, toolName, args, message } as const
      this.#asked = request
      this.#timer ??= setTimeout(this.#stop, WRITE_MS)
      void this.transcript.closeAt(id).then(() => {
        this.#asked = { ...request, kept: this.transcript.keep({ id, name: toolName, args }) }
        this.#stopIfKept()
      })
    }
    // The SDK has ended before anybody decides.
    return new Promise(() => {})
  }

  readonly #interrupt = () => {
    this.#timer ??= setTimeout(this.#stop, INTERRUPT_MS)
    const interrupting = async () => callMethod(this.#query, 'interrupt')
    interrupting().catch(this.#stop)
  }

  /** Ends the SDK once the call that waits is written, and all is read that the model said. */
  #stopIfKept(): void {
    if (this.#asked?.kept !== undefined && this.#events.isBetweenMessages) this.#stop()
  }

  readonly #stop = () => {
    this.#isStopped = true
    if (hasMethods(this.#query, 'close')) callMethod(this.#query, 'close')
    this.#abort.abort()
  }
}

function toPermission({ request: { args }, answer: { decision, reason } }: Decision): object {
  if (decision === 'approve') return { behavior: 'allow', updatedInput: args }
  return { behavior: 'deny', message: textIn(reason) ?? 'A person has denied this call' }
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
  #structured: object | undefined
  #askedAt = performance.now()
  /** What the agent has said. */
  text = ''
  /** Whether no message of the model is on its way. */
  isBetweenMessages = false

  /** The end of the run. */
  get outcome(): AdapterEnd {
    const [usage, structured] = [this.#usage, this.#structured]
    return { finishReason: this.#reason, ...(usage && { usage }), ...(structured && { structured }) }
  }

  /** Yields a call of the run before, which is done now. */
  *readCall(id: string, name: unknown, args: unknown): Generator<RunEvent> {
    yield* this.#calls.whole(id, name, args)
  }

  /** Ends the calls of the last message that are not done because another one waits. */
  *endOthers(waiting: string): Generator<RunEvent> {
    const error = 'This call was not made: another one waits for a person'
    for (const { id } of this.#blocks.values()) if (id !== waiting) yield* this.#calls.end(id, { error })
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
    if (event.type === 'message_stop') this.isBetweenMessages = true
    if (event.type === 'message_start') {
      this.isBetweenMessages = false
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
    if (text !== undefined) {
      this.text += text
      yield { type: 'text', text }
    }
    if (thinking !== undefined) yield { type: 'thinking', text: thinking }
    const call = this.#blocks.get(index)
    if (json === undefined || call === undefined) return
    call.json += json
    yield* this.#calls.args(call.id, json)
  }

  #modelCall({ delta, usage: given }: UnknownFields): RunEvent {
    const durationMs = performance.now() - this.#askedAt
    const counted = fieldsOf(given)
    const usage = toUsage({
      input_tokens: inputTokens(counted) || this.#input,
      output_tokens: counted.output_tokens,
    })
    if (usage !== undefined) this.#usage = addUsage(this.#usage ?? NO_USAGE, usage)
    return modelCall({ model: this.#model, usage, finishReason: fieldsOf(delta).stop_reason, durationMs })
  }

  *#readResult({ type, tool_use_id: id, content, is_error: failed }: UnknownFields): Generator<RunEvent> {
    this.#askedAt = performance.now()
    if (type !== 'tool_result' || typeof id !== 'string') return
    const texts = listIn(content).flatMap(part => textIn(fieldsOf(part).text) ?? [])
    const text = textIn(content) ?? texts.join('\n')
    yield* this.#calls.end(id, failed === true ? { error: text } : { result: text })
  }

  #finish({ subtype, is_error: failed, result, usage, errors, ...end }: UnknownFields): void {
    const counted = fieldsOf(usage)
    const all = toUsage({ input_tokens: inputTokens(counted), output_tokens: counted.output_tokens })
    this.#usage = all ?? this.#usage
    this.#reason = LIMITS.has(subtype) ? 'length' : toFinishReason(end.stop_reason)
    this.#structured = objectIn(end.structured_output)
    if (failed !== true || LIMITS.has(subtype)) return
    const text =
      textIn(result) ?? textIn(listIn(errors)[0]) ?? 'The Claude Agent SDK failed without saying why'
    // A failure of the provider has a result, with its words.
    throw new ServableError(textIn(result) ? 'provider_failed' : 'agent_failed', text)
  }
}

/** All input tokens: Anthropic counts those of its cache apart. */
function inputTokens(usage: UnknownFields): number {
  const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage
  return [fresh, read, written].reduce<number>((sum, each) => sum + (numberIn(each) ?? 0), 0)
}
