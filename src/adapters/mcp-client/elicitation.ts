/**
 * Questions that tools ask in the middle of a call (MCP, elicitation in form mode). A tool of the revision 2026-07-28 ends its call
 * with its questions, and is called again with the answers. So a run can wait for them, whatever happens to its process.
 *
 * @module
 */

import type { AgentContext } from '../../agents/agent.ts'
import type { Yielded } from '../../agents/run-types.ts'
import type { Tool } from '../../agents/tool.ts'
import type { CallRound, ToolAnswers, ToolQuestion, ToolServers } from '../../agents/tool-servers.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { plain } from '../../web/plain.ts'

/** Most questions of one call. */
export const MAX_QUESTIONS = 3

const MAX_KEY = 200
const MAX_MESSAGE = 2000
const MAX_SCHEMA = 16_384
const MAX_STATE = 65_536

/** The member of a call's result that has the texts of its questions. */
const MARK = 'input_required'

/** The questions in the answer of a tool. Throws `tool_failed` if it asks for anything else, for nothing, or for too much. */
export function questionsIn(answer: object): Extract<CallRound, { questions: unknown }> {
  const { inputRequests, requestState: state } = answer as Record<string, unknown>
  const asked = Object.entries(Object(inputRequests) as Record<string, unknown>)
  const questions = asked.slice(0, MAX_QUESTIONS + 1).map(toQuestion)
  if (questions.length > MAX_QUESTIONS) throw tooMany()
  const isShort = state === undefined || (typeof state === 'string' && state.length <= MAX_STATE)
  if (questions.length === 0 || !isShort)
    throw failed('The tool asks for input in a way that cannot be answered')
  return { questions, ...(state !== undefined && { state }) }
}

function toQuestion([key, request]: readonly [string, unknown]): ToolQuestion {
  const { method, params } = Object(request) as Record<string, unknown>
  const { mode = 'form', message, requestedSchema: schema } = Object(params) as Record<string, unknown>
  if (method !== 'elicitation/create' || mode !== 'form')
    throw failed('The tool asks for something else than the fields of a form')
  const isUsable = typeof message === 'string' && isObject(schema) && key.length <= MAX_KEY
  if (!isUsable || message.length > MAX_MESSAGE || lengthOf(schema) > MAX_SCHEMA)
    throw failed('The tool asks a question that has no form, or is too long')
  return { key, message: plain(message, '\n'), schema }
}

function lengthOf(schema: object): number {
  try {
    return JSON.stringify(schema).length
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Calls a tool until it gives a result. Nobody is asked: its questions are declined. */
export async function callDeclining(
  call: (answers: ToolAnswers | undefined) => Promise<CallRound>,
): Promise<unknown> {
  let answers: ToolAnswers | undefined
  for (let left = MAX_QUESTIONS; ; ) {
    const round = await call(answers)
    if ('result' in round) return round.result
    left -= round.questions.length
    if (left < 0) throw tooMany()
    answers = answersTo(round, () => null)
  }
}

/** What a body that is asked needs of its context. */
export type AskingContext = Pick<AgentContext, 'callTool' | 'ask' | 'step'>

/** Calls a tool in a body, which is asked what the tool asks. Each round is a call of its own in the events. */
export async function* callAsking(
  servers: Pick<ToolServers, 'round'>,
  tool: Tool,
  args: unknown,
  { callTool, ask, step }: AskingContext,
): AsyncGenerator<Yielded, unknown> {
  const { name } = tool
  let answers: ToolAnswers | undefined
  for (let left = MAX_QUESTIONS; ; ) {
    const given = answers
    let now: CallRound | undefined
    const doing: Tool = {
      ...tool,
      // The call was approved in its first round.
      ...(given !== undefined && { needsApproval: false }),
      async execute(args, { signal, traceparent }) {
        now = await servers.round(name, args, given, { signal, traceparent })
        if ('questions' in now) return { [MARK]: now.questions.map(({ message }) => message) }
        if (isMarked(now.result)) throw failed(`A result cannot have \`${MARK}\``)
        return now.result
      },
    }
    const result = yield* callTool(doing, args)
    if (!isMarked(result)) return result
    // A tool that asks has done nothing yet: the round is repeated if its end was not stored.
    const round = yield* step(
      `${name}.questions`,
      ({ signal, traceparent }) => now ?? servers.round(name, args, given, { signal, traceparent }),
    )
    if ('result' in round) return round.result
    left -= round.questions.length
    if (left < 0) throw tooMany()
    const values = new Map<string, unknown>()
    for (const { key, message, schema } of round.questions) {
      const question = {
        message: `\`${name}\` asks: ${message}`,
        schema: { ...schema, type: ['object', 'null'] },
      }
      values.set(key, yield* ask(name, question))
    }
    answers = answersTo(round, ({ key }) => values.get(key))
  }
}

/** Answers the questions of a round. Null declines. */
function answersTo(
  { questions, state }: Extract<CallRound, { questions: unknown }>,
  answerOf: (question: ToolQuestion) => unknown,
): ToolAnswers {
  const answers = questions.map(question => {
    const content = answerOf(question)
    const answer = content === null ? { action: 'decline' } : { action: 'accept', content }
    return [question.key, answer] as const
  })
  return { answers: Object.fromEntries(answers), ...(state !== undefined && { state }) }
}

function isMarked(result: unknown): boolean {
  return isObject(result) && Object.hasOwn(result, MARK)
}

function tooMany(): ServableError {
  return failed(`The tool asks more than ${MAX_QUESTIONS} questions in a call`)
}

function failed(why: string): ServableError {
  return new ServableError('tool_failed', why)
}
