// A function as it is deployed, for AWS's own runtime client. Its agents wait for files in the folder GATES, and write there.
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { Agent, createHandler, textOf, Workflow } from '../../../src/index.ts'
import { type LambdaFunction, lambda } from '../../../src/runtimes/lambda.ts'
import { sleep } from '../../contracts/fixture/record.ts'
import { stateAt } from './state.ts'

const { DATABASE, GATES = '' } = process.env

const opened = async (gate: string, signal: AbortSignal) => {
  while (!existsSync(join(GATES, gate)) && !signal.aborted) await sleep(10)
}

const MIB = 'é'.repeat(512 * 1024)

const agents = {
  echo: new Agent({ name: 'echo', register: false, run: input => textOf(input) }),
  fails: new Agent({
    name: 'fails',
    register: false,
    async *run() {
      yield 'begun'
      throw new Error('of the agent')
    },
  }),
  gated: new Agent({
    name: 'gated',
    register: false,
    async *run(input, { signal }) {
      yield 'before '
      await opened(textOf(input), signal)
      yield 'after'
    },
  }),
  pours: new Agent({
    name: 'pours',
    register: false,
    async *run(input) {
      for (let pieces = Number(textOf(input)); pieces > 0; pieces--) yield MIB
    },
  }),
}

/** Notes a step in a file, and waits for the gate. */
const workflows = {
  packs: new Workflow({
    name: 'packs',
    register: false,
    async *run(input, { step, signal }) {
      const gate = textOf(input)
      console.log('packs begins')
      yield yield* step('charge', () => {
        appendFileSync(join(GATES, `${gate}.charged`), 'x')
        return 'charged '
      })
      await opened(gate, signal)
      yield 'packed'
    },
  }),
}

const served = createHandler({ registry: false, agents, workflows, state: await stateAt(DATABASE) })

export const handler: LambdaFunction = lambda((request, platform) => {
  if (new URL(request.url).pathname === '/throws') throw new Error('of the handler')
  return served(request, platform)
})

export const buffered: LambdaFunction = lambda(served, { streams: false })

console.log('ready')
