/** A service in this process that takes tokens. */
import { type JwtOptions, jwtAuth } from '../../../src/features/jwt/index.ts'
import { Agent, createHandler, type HandlerOptions, type LogEntry } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { AUDIENCE } from '../../contracts/jwt/issuer.ts'

export const says: Agent = new Agent({
  name: 'says',
  register: false,
  run: (_, { identity }) => `by ${identity}`,
})

/** The host of an issuer on loopback. */
export const allow = ['127.0.0.1']

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A service with `jwtAuth`, and its log. */
export function service(
  options: Omit<JwtOptions, 'audience'> & Partial<JwtOptions>,
  more: HandlerOptions = {},
) {
  const logged: LogEntry[] = []
  const handler = createHandler({
    serve: [says],
    registry: false,
    middleware: [jwtAuth({ audience: AUDIENCE, allow, ...options })],
    logger: entry => void logged.push(entry),
    ...more,
  })
  const run = (token: string) =>
    handler(new Request('http://127.0.0.1/api/agents/says/run', jsonRequest({ input: 'x' }, bearer(token))))
  return {
    handler,
    logged,
    run,
    /** The status, and the text of a good answer or the code of an error. */
    async ask(token: string): Promise<string> {
      const response = await run(token)
      const { text, code } = await response.json()
      return `${response.status} ${text ?? code}`
    },
  }
}
