/** The service of the contract of chats. Every runtime serves it with a state of its own. */

import { createHandler, type Handler, type HandlerOptions, type State } from '../../../src/index.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { identify } from '../identify.ts'
import { agents, teams, workflows } from './agents.ts'

/** The handler of the service: with the settings `resume`, its runs outlive their pages. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'leave', more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    registry: false,
    agents,
    teams,
    workflows,
    state,
    middleware: [identify],
    plugins: [aiSdkUi({ agent: 'says', resume: settings === 'resume' })],
    ...more,
  })
}
