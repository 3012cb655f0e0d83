/** The service whose stores are kept, in the words of any version of servable. */
import type * as Servable from '../../src/index.ts'

/** The ids of the runs that it leaves behind. */
export interface LeftRuns {
  /** It has ended. */
  readonly done: string
  /** It waits for an answer. */
  readonly waits: string
  /** Its process died in its second step. */
  readonly cut: string
}

export const SESSION = 'a-chat'
export const OWNER = 'ann'

/** Long enough for those who read the store years later. */
const AGES_MS = 100 * 365 * 24 * 60 * 60 * 1000

type Library = Pick<typeof Servable, 'Agent' | 'Workflow' | 'createHandler'>

/** Makes it of a version's parts. `second` is what the second step does. */
export function serviceOf(
  { Agent, Workflow, createHandler }: Library,
  state: Servable.State,
  second: () => string | Promise<string>,
): Servable.Handler {
  return createHandler({
    agents: {
      says: new Agent({
        name: 'says',
        register: false,
        async *run() {
          for (const word of ['one ', 'two ', 'three ', 'größer ', '😀']) yield word
        },
      }),
    },
    workflows: {
      asks: new Workflow({
        name: 'asks',
        register: false,
        async *run(_, { ask }) {
          yield `It is ${yield* ask('size')}.`
        },
      }),
      cut: new Workflow({
        name: 'cut',
        register: false,
        async *run(_, { step }) {
          const first = yield* step('first', () => 'first')
          yield `${first} ${yield* step('second', second)}`
        },
      }),
    },
    registry: false,
    logger: false,
    state,
    middleware: [
      (_, context, next) => {
        context.identity = { id: OWNER }
        return next()
      },
    ],
    runs: { retentionMs: AGES_MS, waitingMs: AGES_MS, sessionRetentionMs: AGES_MS },
  })
}
