// The handler of several processes over one state: runs, tasks and the event socket, stored at DATABASE.
import process from 'node:process'
import { Agent, type Handler, textOf } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { agents as taskAgents } from '../../contracts/a2a/agents.ts'
import { notes, sleep } from '../../contracts/fixture/record.ts'
import { agents, gates } from '../../contracts/runs/agents.ts'
import { handlerOn } from '../../contracts/runs/service.ts'
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

/** Text that no database makes smaller. */
const NOISE = Array.from(crypto.getRandomValues(new Uint8Array(50_000)), byte =>
  byte.toString(16).padStart(2, '0'),
).join('')

/** Waits for the gate in its input, and then says 40 large things. It notes how far it is. */
const pours = new Agent({
  name: 'pours',
  register: false,
  async *run(input, { signal }) {
    const gate = textOf(input)
    signal.addEventListener('abort', () => notes.push(`${gate} stopped`))
    yield 'before '
    while (!gates.has(gate) && !signal.aborted) await sleep(10)
    for (let index = 0; index < 40 && !signal.aborted; index++) {
      yield `${index} ${NOISE} `
      notes.push(`${gate} poured ${index}`)
    }
  },
})

export const handler: Handler = handlerOn(state, 'usual', {
  agents: { ...taskAgents, ...agents, resumes, pours },
  a2a: { default: 'gated' },
  gateway: true,
  plugins: [agUi()],
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
