/**
 * Compiled graphs of LangGraph whose state has `messages`.
 *
 * @module
 */

import type { RunEvent, RunInput } from '../../../agents/contract.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import type { Adapter } from '../adapter.ts'
import { toolsOf } from '../facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, listIn, textIn, type UnknownFields } from '../fields.ts'
import { threadOf } from '../history.ts'
import { type Before, lost } from '../waits.ts'
import { Beginning, type Done, mayKeepThreads, threadStateOf } from './langgraph-checkpoint.ts'
import { answersOf, asksOf, toText } from './langgraph-interrupts.ts'
import { LangGraphItems } from './langgraph-items.ts'
import { type LangChainMessage, toLangChainMessage, toLangChainMessages } from './langgraph-messages.ts'
import { type OpenedGraph, opened, threadsOf } from './langgraph-threads.ts'

/** The name of a graph without a name of its own. */
const UNNAMED = 'LangGraph'

/**
 * A graph without a checkpointer keeps its threads in our state. `configurable.thread_id` is the session's thread, or the run's own id
 * without a session. So a graph with a checkpointer also runs without a session. If a thread waits at an interrupt, the input resumes it.
 */
export const langGraph: Adapter = {
  what: 'a compiled LangGraph graph',
  recognizes: value => fieldsOf(value).lg_is_pregel === true && hasMethods(value, 'stream'),
  factsOf(graph) {
    const { name, description, nodes } = fieldsOf(graph)
    const bound = Object.values(fieldsOf(nodes)).flatMap(node => listIn(fieldsOf(fieldsOf(node).bound).tools))
    return {
      name: name === UNNAMED ? undefined : name,
      description: textIn(description),
      tools: toolsOf(bound),
    }
  },
  goesOn: mayKeepThreads,
  threadsOf,
  async *run(given, input, context, _, before) {
    const { runId, signal, work } = context
    const thread = threadOf(context)
    const own = opened(given, context, textIn(before?.state.checkpoint))
    const { graph, durability } = own
    const threadId = textIn(before?.state.thread) ?? thread ?? runId
    const configurable = { thread_id: threadId }
    const mayBeKnown = [before, thread, work.isCut || undefined].some(each => each !== undefined)
    const state = mayBeKnown ? await threadStateOf(graph, configurable) : {}
    const beginning = new Beginning(graph, context)
    const done = beginning.doneIn(state)
    const items = new LangGraphItems()
    if (done === undefined)
      await beginning.after(asksThread(before, state, context) ? lastIn(state) : beginning.messageId)
    else yield* beginning.again(done, items)
    const settings = {
      ...{ configurable, streamMode: ['messages', 'updates'], signal },
      ...(durability !== undefined && { durability }),
    }
    if (!done?.hasEnded) {
      const asks = asked(messageOf(input, beginning), context, before, state, done)
      for await (const event of eventsOf(streamOf(graph, asks, settings), items, own)) {
        yield event
        await beginning.told(event)
      }
    }
    yield* items.rest()
    const { interrupts, outcome } = items
    const checkpoint = await own.stopped(interrupts.length > 0)
    const kept = () => ({ thread: threadId, interrupts, checkpoint })
    return { ...outcome, asked: interrupts.flatMap(asksOf), state: kept }
  },
}

/** The message of the run. It has an id where the run may go on. */
function messageOf(input: RunInput, { messageId: id }: Beginning): LangChainMessage {
  return { ...toLangChainMessage(input), ...(id !== undefined && { id }) }
}

/** The events of a graph, in order. */
async function* eventsOf(
  stream: AsyncGenerator<unknown>,
  items: LangGraphItems,
  { told }: OpenedGraph,
): AsyncGenerator<RunEvent> {
  if (told === undefined) for await (const item of stream) yield* items.read(item)
  else yield* told.among(stream, item => items.read(item))
}

/** The items of a graph. Throws `not_resumable` for an interrupt without a checkpointer. */
async function* streamOf(graph: unknown, asks: object | null, settings: object): AsyncGenerator<unknown> {
  try {
    yield* itemsOf(await callMethod(graph, 'stream', asks, settings))
  } catch (cause) {
    if (!lacksCheckpointer(cause)) throw cause
    throw lost('The graph calls `interrupt` and has no checkpointer', cause)
  }
}

/** Whether the error means a missing checkpointer. Several nodes that ask at once fail with a list of errors. */
function lacksCheckpointer(error: unknown): boolean {
  const { lc_error_code: code, errors } = fieldsOf(error)
  return code === 'MISSING_CHECKPOINTER' || listIn(errors).some(lacksCheckpointer)
}

/**
 * The input of the graph: a user message, the answers of a run that goes on, or the user's reply where the thread waits. Null for a run
 * that was cut off while the graph was at work.
 */
function asked(
  message: LangChainMessage,
  context: RunContext,
  before: Before | undefined,
  state: UnknownFields,
  done: Done | undefined,
): object | null {
  const open = openInterrupts(state)
  if (before !== undefined) {
    const isOpen = listIn(before.state.interrupts).some(each => open.includes(toText(each)))
    return done !== undefined && !isOpen ? null : resume(answersOf(before, open, context))
  }
  if (done !== undefined) return null
  if (asksThread(before, state, context)) return resume(message.content)
  // A protocol for graphs may have more than messages.
  const { graphInput } = context.metadata ?? {}
  return { ...fieldsOf(graphInput), messages: [...toLangChainMessages(context.history), message] }
}

/**
 * Whether the run answers what its thread waits for. Its input is then no message of the thread. In a protocol for graphs a message is no
 * answer: the graph begins anew.
 */
function asksThread(before: Before | undefined, state: UnknownFields, { metadata }: RunContext): boolean {
  if (before !== undefined) return true
  return metadata?.graphInput === undefined && openInterrupts(state).length > 0
}

/** The id of the last message of a thread. */
function lastIn({ values }: UnknownFields): string | undefined {
  return textIn(fieldsOf(listIn(fieldsOf(values).messages).at(-1)).id)
}

/** The interrupts at which a thread waits, as text. */
function openInterrupts({ tasks }: UnknownFields): readonly unknown[] {
  return listIn(tasks).flatMap(task => listIn(fieldsOf(task).interrupts).map(toText))
}

/** The same object as `new Command({ resume })`. The package recognizes a command by this name. */
function resume(value: unknown): object {
  return { lg_name: 'Command', lc_direct_tool_output: true, resume: value, goto: [] }
}
