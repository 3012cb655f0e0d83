/**
 * Runs of graphs that go on after their process died. The graph's checkpointer has what its nodes have done. The run's own records say
 * after which message it began, and which calls were told to their end.
 *
 * @module
 */

import type { RunEvent } from '../../../agents/contract.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { callMethod, fieldsOf, hasMethods, listIn, objectIn, textIn, type UnknownFields } from '../fields.ts'
import { lost } from '../waits.ts'
import type { LangGraphItems } from './langgraph-items.ts'

/** Whether a graph keeps threads. */
export function keepsThreads(graph: unknown): boolean {
  return objectIn(fieldsOf(graph).checkpointer) !== undefined && hasMethods(graph, 'getState')
}

/** Whether a graph keeps threads by itself, or may keep them in our state. */
export function mayKeepThreads(graph: unknown): boolean {
  return keepsThreads(graph) || mayBeOpened(graph)
}

/** Whether a graph takes our checkpointer: it has none, and none is refused with `checkpointer: false`. */
export function mayBeOpened(graph: unknown): boolean {
  return fieldsOf(graph).checkpointer == null && hasMethods(graph, 'getState', 'withConfig')
}

/** The state of a thread; empty without a checkpointer. */
export async function threadStateOf(graph: unknown, configurable: object): Promise<UnknownFields> {
  return keepsThreads(graph) ? fieldsOf(await callMethod(graph, 'getState', { configurable })) : {}
}

/** What the graph had done of a run when its process died. */
export interface Done {
  /** The messages of the run, oldest first. */
  readonly messages: readonly unknown[]
  readonly structured: unknown
  /** Whether nothing is left to do. */
  readonly hasEnded: boolean
}

/** The beginning of a run of a graph, and what was told of it. */
export class Beginning {
  readonly #work: RunContext['work']
  /** Whether it is recorded. A graph without threads begins again where it is cut off inside of a run that goes on. */
  readonly #isKept: boolean
  /** A run that goes on after a wait has a beginning of its own. */
  readonly #path: string
  /** The id of the run's message, which no other call of the run has. A thread takes two messages with one id for one. */
  readonly messageId: string | undefined

  constructor(graph: unknown, { runId, work, messageId }: RunContext) {
    this.#work = work
    this.#isKept = work.isJournalled && keepsThreads(graph)
    this.#path = `${work.prefix}#begun.${listIn(fieldsOf(work.read()).places).length}`
    // Of a client's own message it is the client's.
    if (work.prefix === '') this.messageId = messageId ?? (this.#isKept ? runId : undefined)
    else if (this.#isKept) this.messageId = `${runId}:${work.prefix}`
  }

  /** Records that the run begins after a message of its thread. */
  async after(id: string | undefined): Promise<void> {
    if (!this.#isKept) return
    this.#work.keepAt(this.#path, { after: id ?? null })
    await this.#work.checkpoint()
  }

  /**
   * What the graph has done, by the state of its thread; undefined if the run has not begun. Throws `not_resumable` if the checkpointer
   * has lost the thread.
   */
  doneIn({ values, next }: UnknownFields): Done | undefined {
    const begun = this.#isKept && this.#work.isCut ? objectIn(this.#work.stateAt(this.#path)) : undefined
    if (begun === undefined) return undefined
    const { messages, structuredResponse: structured } = fieldsOf(values)
    const [all, waiting] = [listIn(messages), listIn(next)]
    if (all.length + waiting.length === 0) throw lost('The checkpointer of the graph does not have the run')
    const { after } = fieldsOf(begun)
    const at = after === null ? 0 : all.findLastIndex(message => fieldsOf(message).id === after) + 1
    const hasEnded = waiting.length === 0
    // Nothing of it is in the thread: its process died before the graph began.
    if (at === 0 && after !== null && hasEnded) return undefined
    return { messages: at === 0 && after !== null ? [] : all.slice(at), structured, hasEnded }
  }

  /** Records that a call was told to its end, with all output until now. */
  async told(event: RunEvent): Promise<void> {
    if (event.type !== 'tool_call_end' || !this.#isKept) return
    this.#work.keepAt(this.#toldAt(event.toolCallId), true)
    await this.#work.checkpoint()
  }

  /** Tells what was done again: its text, and the calls that were not told to their end. */
  *again({ messages, structured }: Done, items: LangGraphItems): Generator<RunEvent> {
    const read = [
      ...messages.map(message => ['messages', [message, {}]]),
      ['updates', { checkpoint: { structuredResponse: structured } }],
    ]
    for (const item of read) {
      for (const event of items.read(item)) if (this.#comesAgain(event)) yield event
    }
  }

  #comesAgain(event: RunEvent): boolean {
    if (event.type === 'text' || event.type === 'graph_message') return true
    if (!event.type.startsWith('tool_call_')) return false
    const { toolCallId, toolCall } = fieldsOf(event)
    const id = textIn(toolCallId) ?? String(fieldsOf(toolCall).id)
    return this.#work.stateAt(this.#toldAt(id)) === undefined
  }

  #toldAt(id: string): string {
    return `${this.#work.prefix}#told.${id}`
  }
}
