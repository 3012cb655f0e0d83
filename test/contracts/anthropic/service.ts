/** The service of the contract of Anthropic's interface: the agents of OpenAI's, for callers with a token. */
import { bearerAuth, type Handler, type HandlerOptions, type State } from '../../../src/index.ts'
import { anthropic } from '../../../src/protocols/anthropic/plugin.ts'
import { handlerOn as serviceOn } from '../openai/service.ts'

/** The token of a user. */
export const tokenOf = (user: string): string => `token-of-${user}`

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, settings?: string, more: HandlerOptions = {}): Handler {
  const verify = (token: string) => {
    const [, id] = /^token-of-(.+)$/.exec(token) ?? []
    return id === undefined ? undefined : { id }
  }
  return serviceOn(state, settings, { middleware: [bearerAuth({ verify })], plugins: [anthropic()], ...more })
}
