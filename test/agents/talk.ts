/** Runs that wait and go on, as the run pipeline and its hosts do it, without a store and without HTTP. */
import type { Answer, InputRequest, RunEvent, RunInput, RunOptions, Servable } from '../../src/index.ts'
import { startRun } from '../../src/runs/run.ts'
import type { Caller } from '../../src/runs/run-settings.ts'
import { answered, continuedBy, openOf, type Waiting } from '../../src/runs/waiting/waiting.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { drain, textIn, untimed } from '../support.ts'

/** What came of a run, up to its end. */
export interface Talk {
  readonly id: string
  readonly events: readonly RunEvent[]
  readonly text: string
  /** What it waits for. */
  readonly requests: readonly InputRequest[]
  readonly waiting: Waiting | undefined
  /** The code of the error with which it ended. */
  readonly code: string | undefined
  readonly error: string | undefined
  /** Answers: gives the same while something is left, else what came of the run that goes on. */
  answer(...answers: readonly Answer[]): Promise<Talk>
  /** Answers the requests in order: a question with the value, an approval with yes. */
  say(...values: readonly unknown[]): Promise<Talk>
}

/** What a run may be begun with. */
export interface Begin {
  readonly input?: RunInput
  readonly options?: RunOptions
  readonly caller?: Caller
}

/** Runs a servable until it ends or waits. */
export async function talk(servable: Servable, begin: Begin = {}): Promise<Talk> {
  const { input = 'hi', options = {}, caller = {} } = begin
  let waiting: Waiting | undefined
  const keep: Caller['keep'] = async run => {
    waiting = run.waiting
  }
  const target = { kind: servable.kind, name: servable.name, servable }
  const run = startRun(target, input, options, SETTINGS, { keep, ...caller })
  const events = (await drain(run)).map(untimed)
  const last = events.at(-1)
  const failed = last?.type === 'error' ? last : undefined
  return toTalk({ id: run.id, events, waiting, failed, servable, begin })
}

function toTalk(told: {
  readonly id: string
  readonly events: readonly RunEvent[]
  readonly waiting: Waiting | undefined
  readonly failed: { readonly code: string; readonly error: string } | undefined
  readonly servable: Servable
  readonly begin: Begin
}): Talk {
  const { id, events, waiting, failed, servable, begin } = told
  const requests = waiting === undefined ? [] : openOf(waiting)
  const talked: Talk = {
    id,
    events,
    text: textIn(events),
    requests,
    waiting,
    code: failed?.code,
    error: failed?.error,
    async answer(...answers) {
      if (waiting === undefined) throw new Error('the run waits for nothing')
      const after = answered(waiting, answers, crypto.randomUUID(), { hasKey: true })
      if (after.next === undefined) return toTalk({ ...told, waiting: after })
      // As a store has it.
      const continues = continuedBy(JSON.parse(JSON.stringify(after)), id)
      const options = { ...begin.options, runId: after.next }
      return talk(servable, { ...begin, options, caller: { ...begin.caller, continues } })
    },
    say: (...values) => talked.answer(...values.map((value, place) => answerTo(requests[place], value))),
  }
  return talked
}

function answerTo(request: InputRequest | undefined, value: unknown): Answer {
  const { id = '', kind } = request ?? {}
  return kind === 'approval' ? { id, decision: value === 'no' ? 'deny' : 'approve' } : { id, value }
}
