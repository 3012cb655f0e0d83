// The handler of several processes over one SQLite file: runs, tasks and the event socket, stored in the file DATABASE.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { agents as taskAgents } from '../../contracts/a2a/agents.ts'
import { agents } from '../../contracts/runs/agents.ts'
import { runsHandler, runsOptions } from '../../contracts/runs/service.ts'

const state = sqliteState({ path: process.env.DATABASE ?? '' })

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
