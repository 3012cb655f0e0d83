import { Agent } from '../../agents/agent.ts'
import type { ServableAgent } from '../../agents/contract.ts'
import { createCardCache } from './card.ts'
import { createContexts } from './contexts.ts'
import { type RemoteAgentOptions, settingsOf } from './options.ts'
import { runTurn } from './turn.ts'

/**
 * An agent of another service, over A2A 1.0, 0.3 or 0.2. Use it as any other agent: served by itself, as a member of a team or in
 * a workflow. The first run reads the card. Throws `invalid_options` that names each wrong option.
 *
 * A stored run whose process dies continues with the same task, and sends nothing twice. Cancelling the run cancels the task.
 *
 * @example
 * remoteAgent({
 *   url: 'https://billing.example.com',
 *   name: 'billing',
 *   headers: () => ({ authorization: `Bearer ${env.BILLING_TOKEN}` }),
 * })
 */
export function remoteAgent(options: RemoteAgentOptions): ServableAgent {
  const settings = settingsOf(options)
  const { name } = settings
  const { description, register } = options
  const remote = { settings, cards: createCardCache(settings), contexts: createContexts() }
  return new Agent({
    name,
    ...(description !== undefined && { description }),
    ...(register !== undefined && { register }),
    resume: true,
    run: (input, context) => runTurn(input, context, remote),
  })
}
