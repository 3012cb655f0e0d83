/**
 * Applies the answers to calls that waited: which tools are called now, and what the model gets.
 *
 * @module
 */

import type { ToolResultPart } from 'ai'
import type { Answer, AnsweredBy, InputRequest, RunEvent } from '../../agents/contract.ts'
import { isAnswered, requestOf } from '../../agents/input-request.ts'
import { fitOf } from '../../agents/misfit.ts'
import { CUT_OFF, cutOff, onRepeatOf } from '../../agents/tool.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { pathOf } from '../../agents/work/work.ts'
import { ServableError } from '../../base/errors.ts'
import type { OpenCall } from './calls.ts'
import type { PlannedCall } from './rounds.ts'
import {
  type CallParts,
  carryOut,
  doneBefore,
  failureOf,
  reportEnd,
  resultOf,
  type Settled,
  type ToolEnd,
} from './settle.ts'
import { type OwnTool, toolGone } from './tools.ts'
import type { WaitingCall } from './waiting.ts'

/** Goes on with the calls that waited, if all of them were answered. */
export async function* resumeCalls(
  waiting: readonly WaitingCall[],
  parts: CallParts,
  run: RunContext,
): AsyncGenerator<RunEvent, Settled> {
  run.scope.meet(waiting.map(({ request }) => request))
  if (isAnswered(waiting, run.answers)) return yield* takeAnswers(waiting, parts, run)
  if (!run.work.isCut) return { results: [], waits: waiting }
  // If a run that was cut off goes on under another id, the requests get that id.
  const waits = waiting.map(({ call, request }) => {
    return { call, request: { ...request, id: idIn(run, request) } }
  })
  return { results: [], waits }
}

/** The id of a request that another run repeats. */
function idIn({ runId }: RunContext, request: InputRequest): string {
  return `${runId}/${pathOf(request)}`
}

/**
 * Applies the answers: calls approved tools with the arguments that were shown, returns results of clients, and asks again if
 * edited arguments do not fit. Throws `invalid_input`, before any call, for an answer that does not fit its request.
 */
async function* takeAnswers(
  waiting: readonly WaitingCall[],
  parts: CallParts,
  run: RunContext,
): AsyncGenerator<RunEvent, Settled> {
  const taken: Taken[] = []
  for (const waits of waiting) taken.push(await take(waits, parts, run))
  const results: ToolResultPart[] = []
  const waits: WaitingCall[] = []
  const edited = new Map<string, unknown>()
  for (const [index, given] of taken.entries()) {
    const doing = againAs(parts.rounds.next(given.call), waiting[index]?.again)
    const done = doneBefore(doing, parts)
    const each = done === undefined ? takenHere(given, run) : given
    if (each.how === 'approved') edited.set(each.call.toolCallId, each.args)
    if (done !== undefined) {
      results.push(done.result)
    } else if (each.how === 'unfit') {
      yield* parts.parts.read({ type: 'tool-call', ...each.call })
      waits.push(each)
    } else if (each.how === 'approved' && doing.isCutOff && onRepeatOf(each.own.tool) === 'ask') {
      waits.push(await askAgain(each, doing, run))
    } else {
      results.push(yield* carryOn(each, doing, parts))
    }
  }
  return { results, waits, edited }
}

/** What was taken, but that an approval of a call of another run is none of a call of this one. */
function takenHere(taken: Taken, run: RunContext): Taken {
  if (taken.how !== 'approved' || !run.work.isTakenOver) return taken
  return { how: 'unfit', call: taken.call, request: { ...taken.request, id: idIn(run, taken.request) } }
}

/** An answered call as it is done now. */
interface AnsweredCall extends PlannedCall {
  /** Whether it was cut off since it was approved. */
  readonly isCutOff: boolean
}

/** The call as the answer allows it: `again` is that of a call which was cut off before it was asked about. */
function againAs(call: PlannedCall, again: WaitingCall['again']): AnsweredCall {
  const { attempt = 1, idempotencyKey } = { ...call, attempt: 1, ...again }
  return {
    ...call,
    idempotencyKey,
    attempt: Math.max(attempt, call.attempt),
    isCutOff: call.attempt > attempt,
  }
}

/** Asks about an approved call that was cut off, with the arguments with which it had begun. */
async function askAgain(
  { call, args, request }: Approved,
  { idempotencyKey, attempt }: PlannedCall,
  run: RunContext,
): Promise<WaitingCall> {
  const asked = { ...request, id: idIn(run, request), args, message: CUT_OFF }
  return {
    call: { ...call, input: args },
    request: await requestOf(asked),
    again: { idempotencyKey, attempt },
  }
}

/** A call that may be done. */
interface Approved extends WaitingCall {
  readonly how: 'approved'
  readonly own: OwnTool
  readonly args: unknown
  readonly by?: AnsweredBy | undefined
}

/** An answer that fits its request: a result for the model, or a tool to call. */
type Fitting =
  | { readonly call: OpenCall; readonly how: 'done' | 'denied'; readonly result: ToolResultPart }
  | Approved

/** An answer, or a request that is repeated. */
type Taken = Fitting | (WaitingCall & { readonly how: 'unfit' })

async function take({ call, request }: WaitingCall, { tools }: CallParts, run: RunContext): Promise<Taken> {
  const answers: readonly Answer[] = run.answers ?? []
  const answer = answers.find(({ id }) => id === request.id)
  if (answer === undefined) throw unfit(request.id)
  if (request.kind === 'client_tool' && 'result' in answer) {
    return { call, how: 'done', result: resultOf(call, answer.result) }
  }
  if (request.kind !== 'approval' || !('decision' in answer)) throw unfit(request.id)
  const { decision, reason, editedArgs } = answer
  if (decision !== 'approve') {
    const text = `The call was denied${reason === undefined ? '' : `: ${reason}`}`
    return { call, how: 'denied', result: failureOf(call, text) }
  }
  const own = tools.ownOf(call.toolName)
  // If the tools have changed, the model's name may mean another tool.
  if (own === undefined || own.tool.name !== request.toolName) {
    throw toolGone(request.toolName ?? call.toolName)
  }
  const approved = { call, request, how: 'approved', own, by: answer.answeredBy } as const
  if (editedArgs === undefined) return { ...approved, args: call.input }
  if (own.tool.editable !== true) {
    throw new ServableError('invalid_input', `The arguments of \`${own.tool.name}\` cannot be edited`)
  }
  const fit = await fitOf(editedArgs, own.tool.parameters)
  if ('value' in fit) return { ...approved, args: editedArgs }
  const again = await requestOf({ ...request, id: idIn(run, request), message: fit.misfit })
  return { call, how: 'unfit', request: again }
}

/** Carries out one answer. The work of a client itself is not sent again. */
async function* carryOn(
  taken: Fitting,
  doing: AnsweredCall,
  parts: CallParts,
): AsyncGenerator<RunEvent, ToolResultPart> {
  const { how, call } = taken
  if (how === 'done') return taken.result
  const { toolCallId, toolName } = call
  const input = how === 'approved' ? taken.args : call.input
  yield* parts.parts.read({ type: 'tool-call', toolCallId, toolName, input })
  if (how === 'approved') return yield* reportEnd(doing, await endOf(taken, doing, parts), parts)
  const reason: unknown = Object(taken.result.output).value
  yield* parts.parts.read({ type: 'tool-output-denied', toolCallId, reason })
  if (parts.rounds.isKept) await parts.rounds.keep(doing.path, { result: taken.result })
  return taken.result
}

/** Carries out an approved call. One that was cut off is done again, or fails. */
async function endOf({ own, args, by }: Approved, doing: AnsweredCall, parts: CallParts): Promise<ToolEnd> {
  if (doing.isCutOff && onRepeatOf(own.tool) === 'fail') return { thrown: cutOff(own.tool.name) }
  if (parts.rounds.isKept) await parts.rounds.begun([doing])
  return carryOut(own, { ...doing, approval: by }, parts, args)
}

function unfit(id: string): ServableError {
  return new ServableError('invalid_input', `There is no answer to \`${id}\` that fits`)
}
