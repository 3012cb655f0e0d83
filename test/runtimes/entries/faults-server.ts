// The handler of servers that meet faults. Each effect is a line of the file EFFECTS. The text of each run ends with what the run
// takes for done.
import './skewed.ts'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { createHandler, type Handler, type StepFacts, textOf, Workflow } from '../../../src/index.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { clock, type Done, type FaultEffect } from '../faults/effects.ts'
import { helperOf } from './faults-model.ts'
import { stateAt } from './state.ts'

const { DATABASE, EFFECTS = '', GENERATION } = process.env

/** Most milliseconds before an effect, and after it. */
const MAX_PAUSE_MS = 25

const pause = () => new Promise(resolve => setTimeout(resolve, Math.random() * MAX_PAUSE_MS))

/** Does something that nothing takes back. */
async function act(key: string, name: string): Promise<Done> {
  const began = clock()
  await pause()
  const value = Math.floor(Math.random() * 1_000_000)
  const effect: FaultEffect = { key, name, value, generation: Number(GENERATION), began, at: clock() }
  const file = openSync(EFFECTS, 'a')
  writeSync(file, `${JSON.stringify(effect)}\n`)
  fsyncSync(file)
  closeSync(file)
  await pause()
  return { key, value }
}

const acting = (name: string) => (facts: StepFacts) => act(facts.idempotencyKey, name)

/** A step that says its name. */
const saying = (name: string) =>
  async function* ({ idempotencyKey }: StepFacts) {
    yield `${name} `
    return act(idempotencyKey, name)
  }

const order = new Workflow({
  name: 'order',
  register: false,
  async *run(input, { step, parallel, sleep }) {
    yield `${textOf(input)} `
    const did: Done[] = [yield* step('read', saying('read'))]
    const [left, both, right] = yield* parallel([
      step('left', acting('left')),
      step('middle', async function* (own) {
        const first = yield* own.step('first', acting('first'))
        return [first, yield* own.step('second', acting('second'))]
      }),
      step('right', acting('right')),
    ])
    did.push(left, ...both, right)
    yield* sleep('rest', 20)
    for (let turn = 0; turn < 2; turn++) did.push(yield* step('again', saying('again')))
    did.push(yield* step('last', acting('last')))
    yield `|${JSON.stringify({ did })}`
  },
})

const asks = new Workflow({
  name: 'asks',
  register: false,
  async *run(_, { step, ask }) {
    const before = yield* step('before', saying('before'))
    const answer = yield* ask('size')
    const after = yield* step('after', saying('after'))
    yield `|${JSON.stringify({ did: [before, after], answer })}`
  },
})

export const handler: Handler = createHandler({
  workflows: { order, asks },
  agents: { helper: helperOf(act) },
  state: await stateAt(DATABASE),
  // What has ended is folded while others still read it.
  runs: { maxRunningPerOwner: 1000, piecesMs: 1000 },
  logger: false,
})

/** Prints the server's address and the process id. */
export function tell({ url }: RunningServer): void {
  console.log(`pid ${process.pid}, listening ${url}`)
}
