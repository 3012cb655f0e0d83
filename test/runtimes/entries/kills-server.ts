// The handler of servers that are killed: a workflow of ten steps and more, stored in the file DATABASE. Each step writes a line
// into the file EFFECTS, which nothing takes back.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { Agent, createHandler, type Handler, type StepFacts, textOf, Workflow } from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'

const { DATABASE = '', EFFECTS = '', GENERATION = '0' } = process.env

/** Most milliseconds before an effect, and after it. */
const MAX_PAUSE_MS = 20

/** A line of the file: that a step did its work, in which of the processes. */
export interface Effect {
  readonly key: string
  readonly name: string
  readonly value: number
  readonly generation: number
}

const pause = () => new Promise(resolve => setTimeout(resolve, Math.random() * MAX_PAUSE_MS))

/** Does the work of a step: its effect is on the disk some time before the step ends. */
async function act(name: string, { idempotencyKey: key }: StepFacts): Promise<number> {
  await pause()
  const effect: Effect = {
    ...{ key, name, value: Math.floor(Math.random() * 1000) },
    generation: Number(GENERATION),
  }
  const file = openSync(EFFECTS, 'a')
  writeSync(file, `${JSON.stringify(effect)}\n`)
  fsyncSync(file)
  closeSync(file)
  await pause()
  return effect.value
}

/** A step that says its name. */
const saying = (name: string) =>
  async function* (facts: StepFacts) {
    yield `${name} `
    return act(name, facts)
  }

const checker = new Agent({
  name: 'checker',
  register: false,
  async *run(_, { step }) {
    yield* step('check', saying('check'))
  },
})

const order = new Workflow({
  name: 'order',
  register: false,
  async *run(input, { step, parallel, call }) {
    yield `${textOf(input)}: `
    yield* step('read', saying('read'))
    const drawn = yield* step('draw', facts => act('draw', facts))
    const sums = yield* parallel([
      step('left', facts => act('left', facts)),
      step('middle', async function* (own) {
        const first = yield* own.step('first', facts => act('first', facts))
        return first + (yield* own.step('second', facts => act('second', facts)))
      }),
      step('right', facts => act('right', facts)),
    ])
    const branch = drawn % 2 === 0 ? 'even' : 'odd'
    yield* step(branch, saying(branch))
    if (branch === 'even') yield* call(checker, 'all')
    else yield* step('weigh', saying('weigh'))
    for (let turn = 0; turn < 2; turn++) yield* step('again', saying('again'))
    const last = yield* step('last', saying('last'))
    yield JSON.stringify([drawn, ...sums, last])
  },
})

export const handler: Handler = createHandler({
  workflows: { order },
  state: sqliteState({ path: DATABASE }),
  logger: false,
})
