/**
 * Compiled graphs of LangGraph whose state has `messages`.
 *
 * @module
 */

import type { RunInput, RunOutcome } from '../agents/contract.ts'
import type { RunContext, Yielded } from '../agents/perform.ts'
import type { Adapter } from './adapter.ts'
import { toolsOf } from './facts.ts'
import { callMethod, fieldsOf, hasMethods, itemsOf, listIn, objectIn, textIn } from './fields.ts'
import { LangGraphItems } from './langgraph-items.ts'
import { toLangChainMessage, toLangChainMessages } from './langgraph-messages.ts'
import { threadOf } from './thread.ts'

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
  run: runGraph,
}

async function* runGraph(
  graph: unknown,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<Yielded, RunOutcome> {
  const { runId, signal } = context
  const thread = threadOf(context)
  const configurable = { thread_id: thread ?? runId }
  const message = toLangChainMessage(input)
  const isWaiting = thread !== undefined && (await waits(graph, configurable))
  const stream = await callMethod(
    graph,
    'stream',
    isWaiting ? resume(message.content) : { messages: [...toLangChainMessages(context.history), message] },
    {
      configurable,
      streamMode: ['messages', 'updates'],
      signal,
    },
  )
  const items = new LangGraphItems()
  for await (const item of itemsOf(stream)) yield* items.read(item)
  yield* items.rest()
  return items.outcome
}

/** Whether the thread stopped at an interrupt. A graph without a checkpointer has no threads. */
async function waits(graph: unknown, configurable: object): Promise<boolean> {
  if (!objectIn(fieldsOf(graph).checkpointer) || !hasMethods(graph, 'getState')) return false
  const { tasks } = fieldsOf(await callMethod(graph, 'getState', { configurable }))
  return listIn(tasks).some(task => listIn(fieldsOf(task).interrupts).length > 0)
}

/** The same object as `new Command({ resume })`. The package recognizes a command by this name. */
function resume(value: unknown): object {
  return { lg_name: 'Command', lc_direct_tool_output: true, resume: value, goto: [] }
}
