/** An agent that does what its input says, and tells afterwards what became of it. */
import type {
  FinishEvent,
  InputRequest,
  RunEvent,
  RunInput,
  RunOptions,
  ServableAgent,
} from '../../../src/index.ts'
import { type ErrorCode, ServableError } from '../../../src/index.ts'
import { untyped } from '../../support.ts'

/** One act. */
export type Act =
  | { readonly say: string; readonly times?: number }
  | { readonly event: RunEvent }
  | { readonly finish: Omit<FinishEvent, 'type'> }
  | { readonly fail: string; readonly code?: ErrorCode }
  /** Waits until the gate opens or the run is stopped. */
  | { readonly gate: string }
  /** Waits this many turns. */
  | { readonly turns: number }
  /** Increments a counter. */
  | { readonly count: string }
  /** Ends the run with questions of these names; a run that goes on says their answers. */
  | { readonly ask: readonly string[] }
  /** Fails with the provider key in its message. */
  | { readonly leak: true }

const gates = new Set<string>()
const counts = new Map<string, number>()
const stopped = new Set<string>()

export const openGate = (gate: string): void => void gates.add(gate)
export const isOpen = (gate: string): boolean => gates.has(gate)
export const countOf = (name: string): number => counts.get(name) ?? 0
export const counting = (name: string): void => void counts.set(name, countOf(name) + 1)
/** Whether the run's agent was stopped. */
export const wasStopped = (runId: string): boolean => stopped.has(runId)

export const scripted: ServableAgent = untyped({
  kind: 'agent',
  name: 'scripted',
  async *stream(input: RunInput, options: RunOptions = {}): AsyncGenerator<RunEvent> {
    options.signal?.addEventListener('abort', () => stopped.add(options.runId ?? ''))
    for (const act of JSON.parse(String(input)) as Act[]) yield* doing(act, options)
  },
})

function* asking(names: readonly string[], { runId = '', answers }: RunOptions): Generator<RunEvent> {
  if (answers === undefined) {
    yield {
      type: 'finish',
      finishReason: 'input_required',
      requests: names.map(name => question(runId, name)),
    }
  } else yield { type: 'text', text: answers.map(answer => ('value' in answer ? answer.value : '')).join() }
}

/** What a run asks: for a number. */
export function question(runId: string, name: string): InputRequest {
  return { id: `${runId}/${name}`, kind: 'question', message: name, schema: { type: 'number' }, digest: 'd' }
}

async function* doing(act: Act, options: RunOptions): AsyncGenerator<RunEvent> {
  if ('say' in act) for (let i = 0; i < (act.times ?? 1); i++) yield { type: 'text', text: act.say }
  else if ('event' in act) yield act.event
  else if ('finish' in act) yield { type: 'finish', ...act.finish }
  else if ('ask' in act) yield* asking(act.ask, options)
  else await happening(act, options)
}

async function happening(act: Act, { signal, apiKey }: RunOptions): Promise<void> {
  if ('count' in act) counting(act.count)
  else if ('turns' in act) for (let i = 0; i < act.turns; i++) await pause(0)
  else if ('gate' in act) while (!gates.has(act.gate) && !signal?.aborted) await pause(2)
  else if ('leak' in act) throw new Error(`the provider refused ${apiKey}`)
  else if ('fail' in act) throw act.code ? new ServableError(act.code, act.fail) : new Error(act.fail)
}

export function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
