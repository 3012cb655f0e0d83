/** The service that stock clients of OpenAI's interface ask. Every runtime serves it with a state of its own. */
import { bearerAuth, createHandler, type Handler, type State } from '../../../src/index.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { agents } from './agents.ts'

/** Their keys are the deployment's tokens: each names its user, but for one that nobody has. */
export function handlerOn(state: State): Handler {
  return createHandler({
    production: true,
    registry: false,
    agents,
    // Has paths below `/v1` too.
    a2a: { default: 'says' },
    state,
    middleware: [bearerAuth({ verify: token => (token === 'wrong' ? undefined : { id: token }) })],
    plugins: [openai()],
  })
}
