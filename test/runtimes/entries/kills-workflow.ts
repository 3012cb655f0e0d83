// A workflow of ten steps and more. Each has an effect that nothing takes back.
import { Agent, type StepFacts, textOf, Workflow } from '../../../src/index.ts'

/** Most milliseconds before an effect, and after it. */
const MAX_PAUSE_MS = 20

/** That a step did its work, in which of the processes. */
export interface Effect {
  readonly key: string
  readonly name: string
  readonly value: number
  readonly generation: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** How the workflow is made, from the environment. */
export interface OrderSettings {
  readonly GENERATION?: string | undefined
  readonly VERSION?: string | undefined
  /** What a deploy has changed: a step that is done by then, or steps after all others. */
  readonly CHANGE?: string | undefined
}

const pause = () => new Promise(resolve => setTimeout(resolve, Math.random() * MAX_PAUSE_MS))

/** Makes the workflow. `write` resolves some time before the step ends. */
export function orderOf(write: (effect: Effect) => unknown, settings: OrderSettings): Workflow {
  const { GENERATION = '0', VERSION, CHANGE } = settings
  const act = async (name: string, { idempotencyKey: key }: StepFacts): Promise<number> => {
    await pause()
    const value = Math.floor(Math.random() * 1000)
    await write({ key, name, value, generation: Number(GENERATION), at: Date.now() })
    await pause()
    return value
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
  return new Workflow({
    name: 'order',
    register: false,
    ...(VERSION !== undefined && { version: VERSION }),
    async *run(input, { step, parallel, call }) {
      yield `${textOf(input)}: `
      yield* step(CHANGE === 'renamed' ? 'fetch' : 'read', saying('read'))
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
      if (CHANGE === 'longer') yield* step('more', saying('more'))
      const last = yield* step('last', saying('last'))
      yield JSON.stringify([drawn, ...sums, last])
    },
  })
}
