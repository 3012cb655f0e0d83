// The handler of several processes over one state: runs, tasks and the event socket, stored at DATABASE.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { agents as taskAgents } from '../../contracts/a2a/agents.ts'
import { agents } from '../../contracts/runs/agents.ts'
import { runsHandler, runsOptions } from '../../contracts/runs/service.ts'
import { stateAt } from './state.ts'

const state = await stateAt(process.env.DATABASE)

export const handler: Handler = runsHandler({
  ...runsOptions(state),
  agents: { ...taskAgents, ...agents },
  a2a: { default: 'gated' },
  gateway: true,
})

/** Prints the server's address and the process id. */
export function tell({ url }: RunningServer): void {
  console.log(`pid ${process.pid}, listening ${url}`)
}
