/** The service of the contract of tokens. `issuer` is where its identity provider is, on loopback. */

import { webConsole } from '../../../src/features/console/plugin.ts'
import { jwtAuth, oidcLogin } from '../../../src/features/jwt/index.ts'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type State,
  textOf,
} from '../../../src/index.ts'

const says: Agent = new Agent({
  name: 'says',
  register: false,
  run: (input, { identity }) => `${textOf(input)} by ${identity}`,
})

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, issuer = 'http://127.0.0.1:1', more: HandlerOptions = {}): Handler {
  const from = { issuer, allow: ['127.0.0.1'] }
  const login = oidcLogin({ ...from, clientId: 'console', clientSecret: 'secret' })
  return createHandler({
    production: true,
    agents: { says },
    registry: false,
    state,
    logger: false,
    middleware: [jwtAuth({ ...from, audience: 'https://agents.example.com' })],
    plugins: [webConsole({ authenticate: (_, identity) => identity, login })],
    gateway: true,
    ...more,
  })
}
