import type { FinishReason, RunEvent, RunResult, Servable, Usage } from '../../../agents/contract.ts'
import { addUsage, nameOf } from '../../../agents/usage.ts'
import { modelCall, toFinishReason, toUsage } from '../ending.ts'
import { callMethod, fieldsOf, hasMethods, listIn, objectIn, textIn, type UnknownFields } from '../fields.ts'
import { ToolCalls } from '../tool-calls.ts'

/** The node of the prebuilt agent that only puts its answer into a schema. */
const STRUCTURING = 'generate_structured_response'

/** Reads the `[mode, data]` items of one run of a graph, in order. */
export class LangGraphItems {
  readonly #calls = new ToolCalls()
  /** Ids of calls whose arguments still stream, by their index. Later chunks have only the index. */
  readonly #open = new Map<string, string>()
  /** Answers that have not ended, by their namespaces and ids. */
  readonly #answers = new Map<string, OpenAnswer>()
  /** Ids of answers that came whole. */
  readonly #wholeAnswers = new Set<string>()
  /** The graphs inside of the graph that made calls, by the ids of these. */
  readonly #agents = new Map<string, string>()
  /** Ids of messages whose calls came whole. */
  readonly #wholeCalls = new Set<string>()
  #usage: Usage | undefined
  #reason: FinishReason = 'stop'
  #structured: object | undefined
  readonly #interrupts: Interrupt[] = []
  /** Whether ids of messages are told. */
  readonly #tellsIds: boolean
  #toldId: string | undefined

  constructor({ tellsIds = false }: { readonly tellsIds?: boolean } = {}) {
    this.#tellsIds = tellsIds
  }

  /** The interrupts at which the graph has stopped. */
  get interrupts(): readonly Interrupt[] {
    return this.#interrupts
  }

  /** The end of the run, from the items read until now. */
  get outcome(): Partial<RunResult> {
    return {
      finishReason: this.#reason,
      ...(this.#usage && { usage: this.#usage }),
      ...(this.#structured && { structured: this.#structured }),
    }
  }

  /** The events of one item. */
  *read(item: unknown): Generator<RunEvent> {
    const [mode, data] = listIn(item)
    if (mode === 'updates') {
      yield* this.rest()
      yield* this.#readUpdate(fieldsOf(data))
    }
    if (mode === 'custom' && data != null) yield customOf(data)
    if (mode !== 'messages') return
    const [message, metadata = {}] = listIn(data).map(fieldsOf)
    if (message === undefined) return
    if (typeOf(message) === 'tool') yield* this.rest()
    const agent = agentIn(metadata)
    for (const event of this.#readMessage(message, metadata)) {
      if (agent !== undefined && event.type === 'tool_call_start') this.#agents.set(event.toolCall.id, agent)
      yield* this.#tellId(message, event)
      yield by(agent, event)
    }
  }

  /** Yields the model calls whose end the graph shows. */
  *rest(): Generator<RunEvent> {
    for (const [key, answer] of this.#answers) {
      if (answer.usage === undefined && answer.finishReason === undefined) continue
      this.#answers.delete(key)
      yield by(answer.agent, modelCall(answer))
    }
  }

  *#readMessage(message: UnknownFields, metadata: UnknownFields): Generator<RunEvent> {
    const { langgraph_node, langgraph_checkpoint_ns } = metadata
    const type = typeOf(message)
    if (type === 'tool') yield* this.#readToolMessage(message)
    if (type !== 'ai') return
    this.#count(message)
    this.#gather(message, metadata)
    if (langgraph_node === STRUCTURING) return
    yield* spoken(message)
    yield* this.#readCalls(message, String(langgraph_checkpoint_ns))
  }

  /** Tells the id of the message of an event. Of a result the call itself is in another message. */
  *#tellId(message: UnknownFields, { type }: RunEvent): Generator<RunEvent> {
    const id = textIn(message.id)
    if (!this.#tellsIds || id === undefined || id === this.#toldId) return
    if (typeOf(message) === 'tool' && type !== 'tool_call_end') return
    this.#toldId = id
    yield { type: 'graph_message', id }
  }

  #count({ usage_metadata, response_metadata }: UnknownFields): void {
    const usage = toUsage(usage_metadata)
    if (usage !== undefined) this.#usage = this.#usage === undefined ? usage : addUsage(this.#usage, usage)
    const { finish_reason, stop_reason } = fieldsOf(response_metadata)
    const reason = finish_reason ?? stop_reason
    if (reason != null) this.#reason = toFinishReason(reason)
  }

  /** Collects the usage and the finish reason of an answer. A streaming model sends them in separate chunks. */
  #gather(message: UnknownFields, metadata: UnknownFields): void {
    const { langgraph_checkpoint_ns, ls_provider, ls_model_name } = metadata
    const { id, tool_call_chunks, usage_metadata, response_metadata } = message
    if (!Array.isArray(tool_call_chunks) && textIn(id) !== undefined) {
      if (this.#wholeAnswers.has(String(id))) return
      this.#wholeAnswers.add(String(id))
    }
    const key = `${String(langgraph_checkpoint_ns)} ${String(id)}`
    const { usage: before, finishReason } = this.#answers.get(key) ?? {}
    const usage = toUsage(usage_metadata)
    const { finish_reason, stop_reason } = fieldsOf(response_metadata)
    this.#answers.set(key, {
      model: nameOf({ provider: ls_provider, id: ls_model_name } as Servable['model']),
      usage: usage && before ? addUsage(before, usage) : (usage ?? before),
      finishReason: finish_reason ?? stop_reason ?? finishReason,
      agent: agentIn(metadata),
    })
  }

  *#readCalls(message: UnknownFields, namespace: string): Generator<RunEvent> {
    const chunks = listIn(message.tool_call_chunks).map(fieldsOf)
    for (const { id, name, args, index } of chunks) {
      const key = `${namespace} ${String(message.id)} ${String(index)}`
      const callId = textIn(id) ?? this.#open.get(key)
      if (callId === undefined) continue
      if (this.#open.get(key) !== callId) yield* this.#calls.start(callId, name)
      this.#open.set(key, callId)
      yield* this.#calls.args(callId, args)
    }
    if (chunks.length > 0) return
    // A model that does not stream gives complete calls. A graph around it may repeat the message.
    const messageId = textIn(message.id)
    if (messageId !== undefined && this.#wholeCalls.has(messageId)) return
    const calls = listIn(message.tool_calls).map(fieldsOf)
    if (messageId !== undefined && calls.length > 0) this.#wholeCalls.add(messageId)
    for (const { id, name, args } of calls) {
      if (textIn(id) !== undefined) yield* this.#calls.whole(String(id), name, args)
    }
  }

  *#readToolMessage({ tool_call_id, name, status, content }: UnknownFields): Generator<RunEvent> {
    const id = textIn(tool_call_id)
    if (id === undefined) return
    // The end of a call gives no event if the call has ended already.
    if (!this.#calls.has(id)) yield* this.#calls.start(id, name)
    const error = textIn(content) ?? 'The tool failed'
    yield* this.#calls.end(id, status === 'error' ? { error } : { result: content })
  }

  *#readUpdate(update: UnknownFields): Generator<RunEvent> {
    for (const state of Object.values(update)) {
      const { structuredResponse, messages } = fieldsOf(state)
      this.#structured = objectIn(structuredResponse) ?? this.#structured
      for (const message of [messages].flat().map(fieldsOf)) {
        if (isBare(message)) yield* spoken(message)
        // A node is done when its update comes, and so are the arguments that its model streamed.
        for (const { id, args } of listIn(message.tool_calls).map(fieldsOf))
          for (const event of this.#calls.ready(String(id), args))
            yield by(this.#agents.get(String(id)), event)
      }
    }
    for (const interrupt of listIn(update.__interrupt__).map(fieldsOf)) yield* this.#stop(interrupt)
  }

  /** Yields the request of a graph that has stopped. */
  *#stop({ id, value }: UnknownFields): Generator<RunEvent> {
    this.#reason = 'input_required'
    const key = textIn(id)
    if (key !== undefined) this.#interrupts.push({ id: key, value })
    const text = textIn(value)
    if (text !== undefined) yield { type: 'text', text }
    else if (value !== undefined) yield asked(id, value)
  }
}

/** A request of a graph that called `interrupt`. */
export interface Interrupt {
  readonly id: string
  readonly value: unknown
}

/** The facts of an answer that is being read. */
interface OpenAnswer {
  readonly model?: string | undefined
  readonly usage?: Usage | undefined
  readonly finishReason?: unknown
  readonly agent?: string | undefined
}

/** The name of the graph inside of the graph that sent a message. Undefined for the graph itself. */
function agentIn({ langgraph_checkpoint_ns, lc_agent_name }: UnknownFields): string | undefined {
  // Such as `researcher:id|tools:id`: the last one is a node. A node that calls several graphs counts them.
  const around = (textIn(langgraph_checkpoint_ns)?.split('|') ?? []).slice(0, -1)
  const node = around.findLast(part => part.includes(':'))
  return node && (textIn(lc_agent_name) ?? node.slice(0, node.indexOf(':')))
}

/** What a node has written for its client. The newest one replaces the one before. */
function customOf(data: unknown): RunEvent {
  return { type: 'artifact', artifactId: 'custom', parts: [{ type: 'data', data }] }
}

function by(agent: string | undefined, event: RunEvent): RunEvent {
  return agent === undefined ? event : { ...event, agent }
}

/** An interrupt's value that is not text, as an artifact. */
function asked(id: unknown, value: unknown): RunEvent {
  const artifactId = textIn(id) ?? crypto.randomUUID()
  return { type: 'artifact', artifactId, name: 'interrupt', parts: [{ type: 'data', data: value }] }
}

/** Whether a node returned the answer as a plain object. Such answers come only in updates. */
function isBare({ role }: UnknownFields): boolean {
  return role === 'ai' || role === 'assistant'
}

function typeOf(message: UnknownFields): unknown {
  return hasMethods(message, '_getType') ? callMethod(message, '_getType') : message.type
}

/** The text of a message, and the reasoning of its model. */
function* spoken({ content, additional_kwargs }: UnknownFields): Generator<RunEvent> {
  const thought = textIn(fieldsOf(additional_kwargs).reasoning_content)
  if (thought !== undefined) yield { type: 'thinking', text: thought }
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : listIn(content).map(fieldsOf)
  for (const { type, text, thinking, reasoning } of blocks as readonly UnknownFields[]) {
    const shown = type === 'text' ? textIn(text) : undefined
    const thinks = textIn(thinking) ?? textIn(reasoning)
    if (shown !== undefined) yield { type: 'text', text: shown }
    else if (thinks !== undefined) yield { type: 'thinking', text: thinks }
  }
}
