/** The service that the clients of OpenAI's interface ask, and what it tells of its runs. */

import type { Runtime } from '../../runtimes/harness.ts'
import { run } from '../http/client.ts'

export type Server = () => Runtime

export { DOT } from '../ai-sdk-ui/agents.ts'

/** Tokens are the names of users. */
export const KEY = 'ann'

const headers = { authorization: `Bearer ${KEY}` }

/** The answer of an agent: by default, what came of the run that was asked with this text. */
export async function tell(server: Server, input: string, agent = 'tells'): Promise<string> {
  return (await run(server, `/api/agents/${agent}/run`, { input }, headers)).text
}

export async function openGate(server: Server, gate: string): Promise<void> {
  await tell(server, gate, 'opens')
}
