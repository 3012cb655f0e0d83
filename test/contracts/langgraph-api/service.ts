/** The service of the contract of LangGraph's interface: the agents of OpenAI's, for callers with an identity. */

import { sessions } from '../../../src/features/sessions/plugin.ts'
import type { Handler, HandlerOptions, State } from '../../../src/index.ts'
import { langGraph } from '../../../src/protocols/langgraph-api/plugin.ts'
import { handlerOn as serviceOn } from '../openai/service.ts'

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, settings?: string, more: HandlerOptions = {}): Handler {
  return serviceOn(state, settings, { plugins: [sessions(), langGraph()], ...more })
}
