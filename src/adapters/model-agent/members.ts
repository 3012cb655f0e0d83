/**
 * The members of a team as tools of the model that leads it.
 *
 * @module
 */

import { type ToolResultPart, type ToolSet, tool } from 'ai'
import type { ServableAgent, Usage } from '../../agents/contract.ts'
import { withoutKeys } from '../../agents/redacted.ts'
import type { TeamContext } from '../../agents/team.ts'
import { asProgress, withFacts } from '../../agents/work/call.ts'
import { mapItems } from '../../agents/work/map-items.ts'
import { merge } from '../../agents/work/merge.ts'
import type { Yielded } from '../../agents/work/perform.ts'
import { untilItWaits } from '../../agents/work/waits.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { AiParts } from '../frameworks/ai-sdk/ai-parts.ts'
import { callsIn, type OpenCall } from './calls.ts'
import type { CallHandler } from './converse.ts'
import { type PlannedCall, Rounds } from './rounds.ts'
import { type Done, doneBefore, reportEnd, type Settled, type ToolEnd } from './settle.ts'
import { freeName, type ModelTools, toSchema, withoutSecrets } from './tools.ts'
import type { ModelConversation, WaitingCall } from './waiting.ts'

const TASK = {
  type: 'object',
  properties: { input: { type: 'string', description: 'All that the member has to know' } },
  required: ['input'],
}

/** Failures of a turn that the model cannot correct. The run fails. */
const ENDS_RUN: ReadonlySet<string> = new Set(['code_changed', 'runs_not_stored'])

/** The result of one call: its end, or what it waits for. Empty for one whose result the model has. */
type MemberEnd = { readonly end?: ToolEnd; readonly waits?: readonly WaitingCall[] } & Partial<Done>

/** The calls of a leading model. Each is a member's turn. */
export class MemberCalls implements CallHandler {
  readonly tools: ModelTools
  readonly parts: AiParts
  readonly rounds: Rounds
  readonly signal: AbortSignal
  /** The members' usage in this run. */
  readonly used: Usage[] = []
  readonly #context: TeamContext
  /** The members by the model's name of their tool. */
  readonly #members = new Map<string, ServableAgent>()

  /** `model` is the lead's, as `provider/id`. */
  constructor(context: TeamContext, model: string | undefined) {
    this.#context = context
    this.rounds = new Rounds(context)
    this.signal = context.signal
    const set: ToolSet = {}
    for (const member of context.members) {
      const { name, description = `Asks ${name}` } = member
      const free = freeName(`ask_${name}`, this.#members)
      this.#members.set(free, member)
      set[free] = tool({ description, inputSchema: toSchema(TASK) })
    }
    const nameOf = (name: string) => {
      const member = this.#members.get(name)
      return member === undefined ? name : `ask_${member.name}`
    }
    this.tools = { set, nameOf, ownOf: () => undefined }
    this.parts = new AiParts({ model, nameOf, keepsCalls: context.work.keepsCalls })
  }

  /** Calls the members at once. */
  settle(open: readonly OpenCall[]): AsyncGenerator<Yielded, Settled> {
    return this.#settle(open, open)
  }

  /**
   * Goes on with the turns that waited. All calls begin in their order, so that each gets the same name as before. Their events
   * are new.
   */
  async *resume({ turn, waiting }: ModelConversation): AsyncGenerator<Yielded, Settled> {
    if (waiting.length === 0) return { results: [], waits: [] }
    const { calls, open } = callsIn(turn)
    const { scope } = this.#context
    return yield* mapItems(this.#settle(calls, open), item => scope.asNew(item))
  }

  async *#settle(calls: readonly OpenCall[], open: readonly OpenCall[]): AsyncGenerator<Yielded, Settled> {
    const doings = calls.map(call => this.rounds.next(call))
    const lanes: AsyncGenerator<Yielded, MemberEnd>[] = []
    for (const doing of doings) {
      const { call } = doing
      const isOpen = open.includes(call)
      const done = isOpen ? doneBefore(doing, this) : {}
      lanes.push(done === undefined ? this.#ask(call) : this.#pass(call, done))
      if (done !== undefined) continue
      // Read the call without sending its events again.
      for (const event of this.parts.read({ type: 'tool-call', ...call })) yield event
    }
    const work = this.#together(doings, lanes)
    return yield* this.rounds.isKept ? this.#context.scope.together(work) : work
  }

  /** Begins the turns in order, and reads them in parallel. A turn that waits does not end the others. */
  async *#together(
    doings: readonly PlannedCall[],
    lanes: readonly AsyncGenerator<Yielded, MemberEnd>[],
  ): AsyncGenerator<Yielded, Settled> {
    const results: ToolResultPart[] = []
    const waits: (readonly WaitingCall[])[] = []
    for await (const { lane, done, value } of merge(lanes, this.#context.work.lookahead)) {
      if (!done) {
        yield value
        continue
      }
      const { end, usage, result, waits: waiting = [] } = value
      if (usage !== undefined) this.used.push(usage)
      waits[lane] = waiting
      if (result !== undefined) results[lane] = result
      if (end !== undefined) results[lane] = yield* reportEnd(doings[lane]!, end, this, usage)
    }
    // Drop the gaps of calls without a result.
    return { results: results.flat(), waits: waits.flat() }
  }

  async *#ask(call: OpenCall): AsyncGenerator<Yielded, MemberEnd> {
    const { parts } = this
    const context = this.#context
    const { toolCallId } = call
    try {
      const { name, input } = this.#turnOf(call)
      const end = yield* untilItWaits(within(parts.idOf(toolCallId), asProgress(context.call(name, input))))
      if ('waits' in end) {
        const { requests = [], usage } = end.waits
        return { waits: requests.map((request): WaitingCall => ({ call, request })), usage }
      }
      const { structured, text, usage } = end.value
      return { end: { output: withoutKeys(structured ?? text, context) }, usage }
    } catch (error) {
      context.signal.throwIfAborted()
      if (isServableError(error) && ENDS_RUN.has(error.code)) throw error
      return { end: { thrown: withoutSecrets(error, context) } }
    }
  }

  /** Takes the name of a call that has ended. A call whose arguments did not fit had called no member. */
  // biome-ignore lint/correctness/useYield: it yields nothing.
  async *#pass({ toolName, input }: OpenCall, done: MemberEnd): AsyncGenerator<Yielded, MemberEnd> {
    const member = this.#members.get(toolName)
    if (member !== undefined && taskIn(input) !== undefined) this.#context.scope.next(member.name, 'call')
    return done
  }

  #turnOf({ toolName, input: args }: OpenCall): { readonly name: string; readonly input: string } {
    const member = this.#members.get(toolName)
    if (member === undefined) {
      throw new ServableError('code_changed', `The team has no member for \`${toolName}\` any more`)
    }
    const input = taskIn(args)
    if (input !== undefined) return { name: member.name, input }
    throw new ServableError('invalid_input', '`input` must be text that tells the member what to do')
  }
}

function taskIn(args: unknown): string | undefined {
  const { input } = Object(args) as { readonly input?: unknown }
  return typeof input === 'string' && input !== '' ? input : undefined
}

/** Marks the events of a member's turn as inside of the tool call, except those of steps inside the turn. */
async function* within<T>(toolCallId: string, turn: AsyncGenerator<Yielded, T>): AsyncGenerator<Yielded, T> {
  let stepId: string | undefined
  let result = await turn.next()
  try {
    for (; !result.done; result = await turn.next()) {
      const { value } = result
      if (typeof value !== 'string' && value.type === 'step') stepId ??= value.id
      const isOwn = typeof value !== 'string' && (value.parentId === undefined || value.parentId === stepId)
      yield isOwn ? withFacts(value, { parentId: toolCallId }) : value
    }
    return result.value
  } finally {
    if (!result.done) await turn.return(undefined as T)
  }
}
