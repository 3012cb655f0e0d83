/**
 * What a client of AG-UI answers: interrupts by `resume`, and calls by messages of tools. The ids of interrupts and of messages begin
 * with the id of the run that said them, so that it is found again. Whose it is counts, and never what a client says.
 *
 * @module
 */

import type { Answer, InputRequest } from '../agents/contract.ts'
import { isServableError, ServableError } from '../errors.ts'
import type { RunHost, Viewer } from '../runs/host.ts'
import type { RunRecord } from '../runs/record.ts'
import type { Target } from '../runs/target.ts'
import type { Message, ResumeEntry, RunAgentInput, ToolMessage } from './input.ts'
import { lastUserOf } from './messages.ts'

/** Answers to a run that waits. */
export interface Answers {
  /** The id of the run. */
  readonly id: string
  /** None where a question is cancelled: then the run does not go on. */
  readonly answers: readonly Answer[]
  /** The calls on which they decide. */
  readonly decided: ReadonlySet<string>
}

/** An id of what a run says. */
export function idIn(runId: string, rest: string | number): string {
  return `${runId}/${rest}`
}

/** The run that said what has this id. */
function runOf(id: string): string {
  return id.split('/', 1)[0] ?? ''
}

/**
 * The answers of a client; undefined where it asks for a new run. Throws `run_not_found` and `request_not_found` for what nobody asked
 * this client, `already_answered` for calls that wait no more, and `invalid_body` for an answer that does not fit.
 */
export async function answersOf(
  { messages, resume }: RunAgentInput,
  { kind, name }: Target,
  host: Pick<RunHost, 'get'>,
  viewer: Viewer,
): Promise<Answers | undefined> {
  const results = resultsIn(messages)
  const said = resume[0]?.interruptId ?? saidIn(messages, results.at(-1))
  if (said === undefined) return undefined
  // Such a client means to answer; of another one old results may be left.
  const isAnswer = resume.length > 0 || messages.at(-1)?.role === 'tool'
  const id = runOf(said)
  const record = await found(host, id, viewer, isAnswer)
  if (record === undefined) return undefined
  if (record.kind !== kind || record.name !== name) throw notAsked()
  const answers = [...resumed(resume, id, record), ...called(results, resume, record)]
  if (answers.length === 0) {
    if (!isAnswer) return undefined
    throw new ServableError('already_answered', 'The run waits for none of these results any more')
  }
  const given = answers.filter(answer => answer !== undefined)
  const decided = (record.requests ?? []).flatMap(({ kind, toolCallId }) =>
    kind === 'approval' && toolCallId !== undefined ? [toolCallId] : [],
  )
  return { id, answers: given.length < answers.length ? [] : given, decided: new Set(decided) }
}

function found(
  host: Pick<RunHost, 'get'>,
  id: string,
  viewer: Viewer,
  isAnswer: boolean,
): Promise<RunRecord | undefined> {
  return host.get(id, viewer).catch(error => {
    if (!isAnswer && isServableError(error) && error.code === 'run_not_found') return undefined
    throw error
  })
}

/** What tools gave since a user said something. */
function resultsIn(messages: readonly Message[]): ToolMessage[] {
  return messages.slice(lastUserOf(messages) + 1).filter(message => message.role === 'tool')
}

/** The id of the message with the call that has this result. */
function saidIn(messages: readonly Message[], result: ToolMessage | undefined): string | undefined {
  if (result === undefined) return undefined
  const message = messages.findLast(
    each => each.role === 'assistant' && each.toolCalls?.some(({ id }) => id === result.toolCallId),
  )
  // A result of no call answers nothing: no run has its id.
  return message?.id ?? result.toolCallId
}

/** The answers to interrupts; undefined for one that has none. */
function resumed(
  resume: readonly ResumeEntry[],
  runId: string,
  { requests = [] }: RunRecord,
): (Answer | undefined)[] {
  return resume.map(({ interruptId: id, status, payload }, index) => {
    const place = `resume.${index}`
    if (runOf(id) !== runId) throw misfit(`${place}.interruptId`, 'must be of the same run as the others')
    const request = requests.find(each => each.id === id)
    const kind = request?.kind ?? (status === 'cancelled' || isDecision(payload) ? 'approval' : 'question')
    if (status === 'cancelled') return kind === 'approval' ? { id, ...DENIED } : undefined
    return answerTo({ id, kind }, payload, `${place}.payload`)
  })
}

const DENIED = { decision: 'deny' } as const

/** The answers that messages of tools are: results of client tools, and decisions on calls. `resume` comes before them. */
function called(
  results: readonly ToolMessage[],
  resume: readonly ResumeEntry[],
  { requests = [] }: RunRecord,
): Answer[] {
  const others = requests.filter(({ id }) => !resume.some(({ interruptId }) => interruptId === id))
  const byCall = new Map(others.map(request => [request.toolCallId, request]))
  return results.flatMap(({ toolCallId, content, error, id }) => {
    const request = byCall.get(toolCallId)
    if (request === undefined) return []
    byCall.delete(toolCallId)
    if (error && request.kind === 'approval') return [{ id: request.id, ...DENIED, reason: error }]
    return [answerTo(request, error ? { error } : givenIn(content), `messages: \`${id}\``)]
  })
}

/** What a tool gave, which protocols of text carry as JSON. */
function givenIn(content: ToolMessage['content']): unknown {
  if (typeof content !== 'string' || !/^\s*([[{]|true\s*$|false\s*$)/.test(content)) return content
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}

function answerTo({ id, kind }: Pick<InputRequest, 'id' | 'kind'>, value: unknown, path: string): Answer {
  if (kind === 'approval') return { id, ...decisionOf(value, path) }
  if (value === undefined) throw misfit(path, 'must be given')
  return kind === 'question' ? { id, value } : { id, result: value }
}

/** `true`, `{ approved, reason?, editedArgs? }`, or `decision` in place of `approved`. */
function decisionOf(value: unknown, path: string) {
  if (!isDecision(value)) throw misfit(path, 'must be an object with `approved`: true or false')
  const { approved, decision, reason, editedArgs } = Object(value) as Decision
  const isApproved = value === true || approved === true || decision === 'approve'
  if (reason !== undefined && !(typeof reason === 'string' && reason.length <= MAX_REASON)) {
    throw misfit(`${path}.reason`, `must be text of at most ${MAX_REASON} characters`)
  }
  return {
    decision: isApproved ? ('approve' as const) : ('deny' as const),
    ...(reason !== undefined && { reason }),
    ...(isApproved && editedArgs !== undefined && { editedArgs }),
  }
}

/** Characters of a reason. */
const MAX_REASON = 10_000

type Decision = Readonly<Record<'approved' | 'decision' | 'reason' | 'editedArgs', unknown>>

/** Whether a value says yes or no. */
function isDecision(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  const { approved, decision } = Object(value) as Decision
  return typeof approved === 'boolean' || decision === 'approve' || decision === 'deny'
}

function notAsked(): ServableError {
  return new ServableError('request_not_found', 'Another agent asked this')
}

function misfit(path: string, message: string): ServableError {
  return new ServableError('invalid_body', `\`${path}\` ${message}`, { issues: [{ path, message }] })
}
