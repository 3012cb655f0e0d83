// The handler for Node, Bun and Deno, and how its process ends.
import process from 'node:process'
import { Agent, createHandler, type Handler } from '../../../src/index.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { stateAt } from './state.ts'

const { DATABASE, GRACE_MS } = process.env
const terminated = new Promise(resolve => process.once('SIGTERM', resolve))

/** Ends after the server was told to close. */
const outlives = new Agent({
  name: 'outlives',
  register: false,
  async *run() {
    console.log('outlives begins')
    yield 'before '
    await terminated
    yield 'after'
  },
})

/** Ends when it is stopped. */
const never = new Agent({
  name: 'never',
  register: false,
  async *run(_input, { signal }) {
    yield 'begun'
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
})

export const handler: Handler = createHandler({
  agents: { outlives, never },
  state: await stateAt(DATABASE),
  gateway: true,
})

/** Prints the server's address, and closes the server on SIGTERM. */
export function tell(server: RunningServer): void {
  process.once('SIGTERM', async () => {
    await server.close({ graceMs: Number(GRACE_MS) })
    console.log('closed')
    process.exit()
  })
  console.log(`pid ${process.pid}, listening ${server.url}`)
}
