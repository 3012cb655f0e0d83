/**
 * Compiled graphs of LangGraph whose state has `messages`.
 *
 * @module
 */

import type { RunInput } from '../../../agents/contract.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import type { Adapter } from '../adapter.ts'
import { toolsOf } from '../facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, listIn, objectIn, textIn } from '../fields.ts'
import { threadOf } from '../history.ts'
import { type Before, lost } from '../waits.ts'
import { answersOf, asksOf, toText } from './langgraph-interrupts.ts'
import { LangGraphItems } from './langgraph-items.ts'
import { toLangChainMessage, toLangChainMessages } from './langgraph-messages.ts'

/** The name of a graph without a name of its own. */
const UNNAMED = 'LangGraph'

/**
 * `configurable.thread_id` is the session's thread, or the run's own id without a session. So a graph with a checkpointer
 * also runs without a session. If a thread waits at an interrupt, the input resumes it.
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
  async *run(graph, input, context, _, before) {
    const { runId, signal } = context
    const thread = threadOf(context)
    const threadId = textIn(before?.state.thread) ?? thread ?? runId
    const configurable = { thread_id: threadId }
    const isKnown = before !== undefined || thread !== undefined
    const open = isKnown ? await openInterrupts(graph, configurable) : []
    const settings = { configurable, streamMode: ['messages', 'updates'], signal }
    const items = new LangGraphItems()
    try {
      const stream = await callMethod(graph, 'stream', asked(input, context, before, open), settings)
      for await (const item of itemsOf(stream)) yield* items.read(item)
    } catch (cause) {
      if (!lacksCheckpointer(cause)) throw cause
      throw lost('The graph calls `interrupt` and has no checkpointer', cause)
    }
    yield* items.rest()
    const { interrupts, outcome } = items
    return { ...outcome, asked: interrupts.flatMap(asksOf), state: () => ({ thread: threadId, interrupts }) }
  },
}

/** Whether the error means a missing checkpointer. Several nodes that ask at once fail with a list of errors. */
function lacksCheckpointer(error: unknown): boolean {
  const { lc_error_code: code, errors } = fieldsOf(error)
  return code === 'MISSING_CHECKPOINTER' || listIn(errors).some(lacksCheckpointer)
}

/** The input of the graph: a user message, the answers of a run that goes on, or the user's reply where the thread waits. */
function asked(
  input: RunInput,
  context: RunContext,
  before: Before | undefined,
  open: readonly unknown[],
): object {
  if (before !== undefined) return resume(answersOf(before, open, context))
  const message = toLangChainMessage(input)
  if (open.length > 0) return resume(message.content)
  return { messages: [...toLangChainMessages(context.history), message] }
}

/** The interrupts at which a thread waits, as text. A graph without a checkpointer has no threads. */
async function openInterrupts(graph: unknown, configurable: object): Promise<readonly unknown[]> {
  if (!objectIn(fieldsOf(graph).checkpointer) || !hasMethods(graph, 'getState')) return []
  const { tasks } = fieldsOf(await callMethod(graph, 'getState', { configurable }))
  return listIn(tasks).flatMap(task => listIn(fieldsOf(task).interrupts).map(toText))
}

/** The same object as `new Command({ resume })`. The package recognizes a command by this name. */
function resume(value: unknown): object {
  return { lg_name: 'Command', lc_direct_tool_output: true, resume: value, goto: [] }
}
