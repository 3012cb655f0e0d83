import { ServableError } from '../base/errors.ts'
import type { AppPage } from './app-page.ts'
import { EventBus } from './bus.ts'
import type {
  FinishReason,
  RunEvent,
  RunInput,
  RunOptions,
  RunResult,
  ServableAgent,
  ServableTeam,
} from './contract.ts'
import { checkConfig, checkName, checkRunnable, registerAs, type SharedConfig } from './registry.ts'
import { addUsage, NO_USAGE } from './usage.ts'
import { asProgress, asStep, callAt } from './work/call.ts'
import { merge } from './work/merge.ts'
import { type BodyResult, perform, type RunContext, runThrough, type Yielded } from './work/perform.ts'
import { SpeakingOrder } from './work/speaking-order.ts'
import { type BodyContext, bodyContext, joinedWaits, type LaneEnd, untilItWaits } from './work/waits.ts'

/** The context of a strategy: the run, what it may wait for, and the members. */
export type TeamContext = BodyContext<TeamMembers>

/** What a strategy has beyond the bodies of other kinds. */
export interface TeamMembers {
  /** The members, in the order in which the team was given them. */
  readonly members: readonly ServableAgent[]
  /**
   * Runs a member's turn: yields its events between two `step` events, and returns its result. Throws `agent_failed` for a name
   * that no member has, `run_too_large` for an answer of more than 32 Mi characters, and any error of the member.
   */
  call(name: string, input: RunInput): AsyncGenerator<Yielded, RunResult>
}

/** The work of a team: an async generator, like an agent's, that calls members. */
export type TeamStrategy = ((input: RunInput, context: TeamContext) => BodyResult) & {
  /** Whether it takes messages while it is at work. */
  readonly steering?: boolean
}

/** The options of a team. */
export interface TeamConfig extends SharedConfig {
  /** The name under which clients reach it: 1 to 200 characters. */
  readonly name: string
  readonly description?: string
  /** At least one agent, each with a name of its own. */
  readonly members: readonly ServableAgent[]
  /** {@link routeTo}, {@link sequence}, {@link parallel}, or a strategy of your own. */
  readonly strategy: TeamStrategy
  /** As for an agent. Default: as the strategy says. Members get no messages. */
  readonly steering?: boolean
  /** Both are as for an agent. */
  readonly resume?: boolean
  readonly version?: string
}

/**
 * Agents behind one name. It registers itself by name.
 *
 * @example
 * new Team({ name: 'desk', members: [calculator, summarizer], strategy: routeTo(input => …) })
 */
export class Team implements ServableTeam {
  readonly kind = 'team'
  readonly name: string
  readonly description: string | undefined
  readonly members: readonly ServableAgent[]
  readonly resume: boolean
  readonly steering: boolean
  readonly version: string | undefined
  readonly input: unknown
  readonly examples: readonly string[] | undefined
  readonly page: AppPage | undefined
  /** Emits the events of an agent's bus, for the team as a whole. */
  readonly events: EventBus
  readonly #strategy: TeamStrategy

  constructor(config: TeamConfig) {
    checkConfig(config, 'Team')
    checkMembers(config)
    this.name = config.name
    this.description = config.description
    this.members = [...config.members]
    this.resume = config.resume ?? false
    this.steering = config.steering ?? config.strategy.steering ?? false
    this.version = config.version
    this.input = config.input
    this.examples = config.examples
    this.page = config.page
    this.events = config.events ?? new EventBus()
    this.#strategy = config.strategy
    registerAs(this, config.register)
  }

  /** Runs to the end. Rejects when the run fails. */
  run(input: RunInput, options?: RunOptions): Promise<RunResult> {
    return runThrough(this, input, options)
  }

  /** Runs and yields the events as they come. */
  stream(input: RunInput, options?: RunOptions): AsyncIterableIterator<RunEvent> {
    return perform(this, input, options, run =>
      this.#strategy(
        input,
        bodyContext(run, inner => ({
          members: this.members,
          call: (name: string, message: RunInput) => this.#call(name, message, inner),
        })),
      ),
    )
  }

  #call(name: string, input: RunInput, run: RunContext): AsyncGenerator<Yielded, RunResult> {
    const index = this.members.findIndex(member => member.name === name)
    const member = this.members[index]
    if (member === undefined) {
      throw new ServableError('agent_failed', `team \`${this.name}\` has no member \`${name}\``)
    }
    return run.scope.once('call', name, path =>
      asStep({ id: path, name, index }, callAt(member, input, run, path)),
    )
  }
}

/** A strategy that passes the whole message to the one member that `choose` names. */
export function routeTo(
  choose: (input: RunInput, members: readonly ServableAgent[]) => string | Promise<string>,
): TeamStrategy {
  return async function* (input, context) {
    const result = yield* context.call(await choose(input, context.members), input)
    return endOf([result])
  }
}

/**
 * A strategy in which each member gets the answer of the one before. The last one's answer is the team's. A member that cannot go
 * on (it needs input, for example) ends the team's run with its own answer.
 */
export async function* sequence(
  input: RunInput,
  context: TeamContext,
): AsyncGenerator<Yielded, Partial<RunResult>> {
  const results: RunResult[] = []
  let message = input
  for (const [index, { name }] of context.members.entries()) {
    const turn = context.call(name, message)
    const isLast = index === context.members.length - 1
    const result = yield* isLast ? turn : asProgress(turn)
    results.push(result)
    if (!isLast && HALTS.has(result.finishReason)) return { ...endOf(results), text: result.text }
    message = result.text
  }
  return endOf(results)
}

/** A strategy in which all members work on the message at once. Their answers follow each other in the order of the members. */
export async function* parallel(
  input: RunInput,
  context: TeamContext,
): AsyncGenerator<Yielded, Partial<RunResult>> {
  return yield* context.scope.together(allAtOnce(input, context))
}

async function* allAtOnce(
  input: RunInput,
  context: TeamContext,
): AsyncGenerator<Yielded, Partial<RunResult>> {
  const turns = context.members.map(({ name }) => untilItWaits(context.call(name, input)))
  const order = new SpeakingOrder()
  const ends: LaneEnd<RunResult>[] = []
  for await (const item of merge(turns, context.work.lookahead)) {
    if (item.done) {
      ends[item.lane] = item.value
      yield* order.end(item.lane)
    } else {
      const { value } = item
      if (typeof value === 'string') yield* order.say(item.lane, { type: 'text', text: value })
      else if (value.type === 'text') yield* order.say(item.lane, value)
      else yield value
    }
  }
  const results = ends.flatMap(end => ('value' in end ? [end.value] : []))
  const waiting = joinedWaits(ends)
  if (waiting !== undefined) yield waiting
  return { usage: endOf(results).usage ?? NO_USAGE }
}

const HALTS: ReadonlySet<FinishReason> = new Set(['input_required', 'auth_required', 'rejected', 'cancelled'])

/** The end of a run of several members: the sum of their usage, and the last one's reason and structured output. */
function endOf(results: readonly RunResult[]): Partial<RunResult> {
  const last = results.at(-1)
  const usage = results.reduce((sum, result) => addUsage(sum, result.usage), NO_USAGE)
  return { usage, finishReason: last?.finishReason ?? 'stop', structured: last?.structured ?? null }
}

function checkMembers(config: TeamConfig): void {
  const where = `team \`${config.name}\``
  if (!Array.isArray(config.members) || config.members.length === 0) {
    throw new ServableError('invalid_options', `${where}: \`members\` must have at least one agent`)
  }
  if (typeof config.strategy !== 'function') {
    throw new ServableError(
      'invalid_options',
      `${where}: \`strategy\` must be routeTo(…), sequence, parallel or your own function`,
    )
  }
  const names = new Set<string>()
  config.members.forEach((member: ServableAgent, index) => {
    checkName(member?.name, `${where}: \`members[${index}]\``)
    checkRunnable(member, `${where}: member \`${member.name}\``)
    if (names.has(member.name)) {
      throw new ServableError('invalid_options', `${where}: two members are named \`${member.name}\``)
    }
    names.add(member.name)
  })
}
