// The handler of several processes over one state: runs, tasks and the event socket, stored at DATABASE.
import process from 'node:process'
import { Agent, type Handler, textOf } from '../../../src/index.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { agents as taskAgents } from '../../contracts/a2a/agents.ts'
import { sleep } from '../../contracts/fixture/record.ts'
import { agents, gates } from '../../contracts/runs/agents.ts'
import { runsHandler, runsOptions } from '../../contracts/runs/service.ts'
import { stateAt } from './state.ts'

const state = await stateAt(process.env.DATABASE)

/** As `gated`, and goes on elsewhere where its process dies. */
const resumes = new Agent({
  name: 'resumes',
  register: false,
  resume: true,
  async *run(input, { signal }) {
    yield 'before '
    while (!gates.has(textOf(input)) && !signal.aborted) await sleep(10)
    yield 'after'
  },
})

export const handler: Handler = runsHandler({
  ...runsOptions(state),
  agents: { ...taskAgents, ...agents, resumes },
  a2a: { default: 'gated' },
  gateway: true,
})

/** Prints the server's address and the process id. If CLOSES is set, the server is closed on SIGTERM, and its runs are cancelled. */
export function tell(server: RunningServer): void {
  if (process.env.CLOSES) {
    process.once('SIGTERM', async () => {
      await server.close({ graceMs: 100 })
      console.log('closed')
    })
  }
  console.log(`pid ${process.pid}, listening ${server.url}`)
}
