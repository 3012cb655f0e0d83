/** The service of the contract of the queue. Of an owner two runs may be at work, and of all four. */

import { queue } from '../../../src/features/queue/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { createHandler, type Handler, type HandlerOptions, type State } from '../../../src/index.ts'
import { notes } from '../fixture/record.ts'
import { identify } from '../identify.ts'
import { mounted } from '../mounted.ts'
import { agents, gates } from '../runs/agents.ts'

/** The handler of the service. Runs of owners called `urgent-…` come first. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  const probe = (request: Request): Response => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/probe/open') gates.add(searchParams.get('gate') ?? '')
    return Response.json(notes)
  }
  return createHandler({
    production: true,
    agents,
    state,
    middleware: [identify],
    runs: { store: 'all', maxRunning: 4, maxRunningPerOwner: 2, keepInput: settings === 'keeping' },
    gateway: true,
    a2a: true,
    plugins: [
      queue({
        maxQueued: 12,
        maxQueuedPerOwner: 5,
        priorityOf: ({ owner }) => (owner?.startsWith('urgent') ? 9 : 0),
      }),
      sessions(),
    ],
    fallback: mounted({}, probe),
    ...more,
  })
}
