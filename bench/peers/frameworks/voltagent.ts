/** VoltAgent's server. */

import { VoltAgent } from '@voltagent/core'
import { honoServer } from '@voltagent/server-hono'
import { freePort } from '../../../test/runtimes/harness.ts'
import { agent, logger } from './voltagent-agent.ts'

const port = await freePort()
const server = honoServer({ port, hostname: '127.0.0.1' })
new VoltAgent({ agents: { echo: agent }, logger, server })
const url = `http://127.0.0.1:${port}`
// It prints nothing when it is ready.
while (!(await fetch(`${url}/agents`).catch(() => undefined))) {
  await new Promise(resolve => setTimeout(resolve, 20))
}
console.log(`listening ${url}`)
