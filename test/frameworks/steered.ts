/** A service whose agent has a tool that sends a message to its own run: the model is told of it after the tool. */

import { sessions } from '../../src/features/sessions/plugin.ts'
import { createHandler, type Handler, type Servable } from '../../src/index.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'

/** `agentOf` gets what the tool must call. */
export function steeredHandler(agentOf: (steer: () => Promise<void>) => Servable): Handler {
  let sessionId = ''
  const handler: Handler = createHandler({
    serve: [
      agentOf(async () => {
        const body = JSON.stringify({ input: 'refund it', sessionId, concurrency: 'steer' })
        const headers = { 'content-type': 'application/json' }
        const response = await handler(
          new Request('http://localhost/api/agents/steered/run', { method: 'POST', headers, body }),
        )
        if (response.status !== 202) throw new Error(await response.text())
      }),
    ],
    registry: false,
    state: sqliteState({ path: ':memory:' }),
    plugins: [sessions()],
    middleware: [
      (request, context, next) => {
        context.identity = { id: 'ann' }
        sessionId = request.headers.get('x-session') ?? sessionId
        return next()
      },
    ],
  })
  return handler
}
