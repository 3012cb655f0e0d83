/** How the service tells of its runs, beside MCP. */

import type { Runtime } from '../../runtimes/harness.ts'
import { run } from '../http/client.ts'

export type Server = () => Runtime

/** Tokens are the names of users. */
export const TOKEN = 'ann'

const headers = { authorization: `Bearer ${TOKEN}` }

/** The answer of an agent: by default, what came of the run that was asked with this text. */
export async function tell(server: Server, input: string, agent = 'tells'): Promise<string> {
  return (await run(server, `/api/agents/${agent}/run`, { input }, headers)).text
}

export async function openGate(server: Server, gate: string): Promise<void> {
  await tell(server, gate, 'opens')
}

/** No other test pays it. */
export function amountOfItsOwn(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return String(random)
}
