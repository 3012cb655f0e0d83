/**
 * The members of a team as tools of the model that leads it.
 *
 * @module
 */

import { type ToolResultPart, type ToolSet, tool } from 'ai'
import type { ServableAgent, Usage } from '../../agents/contract.ts'
import { withoutKeys } from '../../agents/redacted.ts'
import type { TeamContext } from '../../agents/team.ts'
import { aside, withFacts } from '../../agents/work/call.ts'
import { merge } from '../../agents/work/merge.ts'
import type { Yielded } from '../../agents/work/perform.ts'
import { retold } from '../../agents/work/retold.ts'
import { untilItWaits } from '../../agents/work/waits.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { AiParts } from '../frameworks/ai-sdk/ai-parts.ts'
import { callsIn, type OpenCall } from './calls.ts'
import type { Calls } from './converse.ts'
import { type Doing, Rounds } from './rounds.ts'
import { type CallEnd, type Done, doneBefore, type Settled, tell } from './settle.ts'
import { freeName, type ModelTools, toSchema, withoutSecrets } from './tools.ts'
import type { Conversation, Waiting } from './waiting.ts'

const TASK = {
  type: 'object',
  properties: { input: { type: 'string', description: 'All that the member has to know' } },
  required: ['input'],
}

/** Failures of a turn that the model cannot mend: the run fails. */
const ENDS_RUN: ReadonlySet<string> = new Set(['code_changed', 'runs_not_stored'])

/** What came of one call: its end, or what it waits for. Nothing of one that the model was told of before. */
type Asked = { readonly end?: CallEnd; readonly waits?: readonly Waiting[] } & Partial<Done>

/** The calls of a model that leads: each is a member's turn. */
export class MemberCalls implements Calls {
  readonly tools: ModelTools
  readonly parts: AiParts
  readonly rounds: Rounds
  readonly signal: AbortSignal
  /** What the members have used in this run. */
  readonly used: Usage[] = []
  readonly #context: TeamContext
  /** By the model's name of the tool. */
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
    this.parts = new AiParts({ model, nameOf })
  }

  /** Asks the members at once. */
  settle(open: readonly OpenCall[]): AsyncGenerator<Yielded, Settled> {
    return this.#settle(open, open)
  }

  /**
   * Goes on with the turns that waited. All calls begin in their order, so that each has the name that it had before. What is told
   * here is told for the first time.
   */
  async *resume({ turn, waiting }: Conversation): AsyncGenerator<Yielded, Settled> {
    if (waiting.length === 0) return { results: [], waits: [] }
    const { calls, open } = callsIn(turn)
    const { scope } = this.#context
    return yield* retold(this.#settle(calls, open), said => scope.asNews(said))
  }

  async *#settle(calls: readonly OpenCall[], open: readonly OpenCall[]): AsyncGenerator<Yielded, Settled> {
    const doings = calls.map(call => this.rounds.next(call))
    const lanes: AsyncGenerator<Yielded, Asked>[] = []
    for (const doing of doings) {
      const { call } = doing
      const isOpen = open.includes(call)
      const done = isOpen ? doneBefore(doing, this) : {}
      lanes.push(done === undefined ? this.#ask(call) : this.#pass(call, done))
      if (done !== undefined) continue
      // What was told of it is not told again.
      for (const event of this.parts.read({ type: 'tool-call', ...call })) yield event
    }
    const work = this.#together(doings, lanes)
    return yield* this.rounds.isKept ? this.#context.scope.together(work) : work
  }

  /** Begins the turns in their order, and reads them at once: one that waits does not end the others. */
  async *#together(
    doings: readonly Doing[],
    lanes: readonly AsyncGenerator<Yielded, Asked>[],
  ): AsyncGenerator<Yielded, Settled> {
    const results: ToolResultPart[] = []
    const waits: (readonly Waiting[])[] = []
    for await (const { lane, done, value } of merge(lanes, this.#context.work.lookahead)) {
      if (!done) {
        yield value
        continue
      }
      const { end, usage, result, waits: waiting = [] } = value
      if (usage !== undefined) this.used.push(usage)
      waits[lane] = waiting
      if (result !== undefined) results[lane] = result
      if (end !== undefined) results[lane] = yield* tell(doings[lane]!, end, this, usage)
    }
    // Without the places of those that have no result.
    return { results: results.flat(), waits: waits.flat() }
  }

  async *#ask(call: OpenCall): AsyncGenerator<Yielded, Asked> {
    const { parts } = this
    const context = this.#context
    const { toolCallId } = call
    try {
      const { name, input } = this.#turnOf(call)
      const end = yield* untilItWaits(within(parts.idOf(toolCallId), aside(context.call(name, input))))
      if ('waits' in end) {
        const { requests = [], usage } = end.waits
        return { waits: requests.map((request): Waiting => ({ call, request })), usage }
      }
      const { structured, text, usage } = end.value
      return { end: { output: withoutKeys(structured ?? text, context) }, usage }
    } catch (error) {
      context.signal.throwIfAborted()
      if (isServableError(error) && ENDS_RUN.has(error.code)) throw error
      return { end: { thrown: withoutSecrets(error, context) } }
    }
  }

  /** Takes the name of a call that has ended. One that does not fit had asked nobody. */
  // biome-ignore lint/correctness/useYield: it says nothing.
  async *#pass({ toolName, input }: OpenCall, done: Asked): AsyncGenerator<Yielded, Asked> {
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

/** A member's turn is the tool call: what happens in its step, and in no further one, happens in the call. */
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
