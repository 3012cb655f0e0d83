/** A workflow that does what its input says, with named steps. */
import { Agent, type RunInput, ServableError, type StepContext, Workflow } from '../../../src/index.ts'
import { counting, countOf, isOpen, pause } from './scripted.ts'

/** What a step does, in this order. */
export interface StepAct {
  readonly step: string
  /** Increments a counter. */
  readonly count?: string
  readonly say?: string
  /** Waits until the gate opens or the run is stopped. */
  readonly gate?: string
  /** Fails as often as this. */
  readonly fails?: { readonly times: number; readonly count: string }
  /** Steps inside of it. */
  readonly inside?: readonly JournalAct[]
}

/** One act of the body. */
export type JournalAct =
  | StepAct
  | { readonly say: string }
  | { readonly all: readonly StepAct[] }
  /** Calls an agent that does these acts. */
  | { readonly call: readonly JournalAct[] }
  | { readonly ask: string }
  | { readonly sleep: number }
  /** A result that is no JSON. */
  | { readonly bigint: true }

/** What agents and workflows have of a context; the type of their steps' own contexts is another one. */
type Context = Pick<StepContext, 'step' | 'parallel' | 'ask' | 'sleep' | 'signal' | 'call'>

const inner = new Agent({
  name: 'inner',
  register: false,
  async *run(input, context) {
    yield* body(JSON.parse(String(input)) as JournalAct[], context as unknown as Context)
  },
})

async function* body(acts: readonly JournalAct[], context: Context): AsyncGenerator<never> {
  for (const act of acts) yield* doing(act, context) as AsyncGenerator<never>
}

async function* doing(act: JournalAct, context: Context) {
  if ('step' in act) yield* stepOf(act, context)
  else if ('say' in act) yield act.say
  else if ('all' in act) yield* context.parallel(act.all.map(each => stepOf(each, context)))
  else if ('call' in act) {
    const result = yield* context.call(inner, JSON.stringify(act.call))
    yield `<${result.text}>`
  } else if ('ask' in act) yield `${String(yield* context.ask(act.ask))}.`
  else if ('sleep' in act) yield* context.sleep('sleep', act.sleep)
  else yield* context.step('bigint', () => 1n)
}

function stepOf({ step, count, say, gate, fails, inside }: StepAct, context: Context) {
  return context.step(step, async function* (own) {
    if (count !== undefined) counting(count)
    if (say !== undefined) yield say
    while (gate !== undefined && !isOpen(gate) && !own.signal.aborted) await pause(2)
    own.signal.throwIfAborted()
    if (fails !== undefined) {
      counting(fails.count)
      if (countOf(fails.count) <= fails.times) throw new ServableError('invalid_input', 'not yet')
    }
    if (inside !== undefined) yield* body(inside, own)
    return step
  })
}

/** How the workflow is made: another version of it is another object. */
export function journalledOf(
  config: { readonly version?: string; readonly resume?: boolean } = {},
): Workflow {
  return new Workflow({
    ...config,
    name: 'journalled',
    register: false,
    run: (input: RunInput, context) => body(JSON.parse(String(input)) as JournalAct[], context),
  })
}

export const journalled: Workflow = journalledOf()
