/** The service of the contract of tokens. `issuer` is where its identity provider is, on loopback. */

import { jwtAuth } from '../../../src/features/jwt/index.ts'
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
  return createHandler({
    production: true,
    agents: { says },
    registry: false,
    state,
    logger: false,
    middleware: [jwtAuth({ issuer, audience: 'https://agents.example.com', allow: ['127.0.0.1'] })],
    gateway: true,
    ...more,
  })
}
