/**
 * Guards as a plugin: the entry `servable/guards`.
 *
 * Begin with `input.ts` and `guarded-events.ts`; `pattern.ts` and `scanner.ts` find patterns in streams. May import `core` and
 * what is below it, and no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/contract.ts'
import { checkOptions, count, func, isFunction, record } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { CoreSettings } from '../../core/options.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { ClientInput, InputSource } from '../../runs/input-filter.ts'
import { type RunMiddleware, runMiddlewareOf } from '../../runs/run-middleware.ts'
import { GuardedEvents } from './guarded-events.ts'
import { checkInput, type InputGuard } from './input.ts'
import { MaskedEvents } from './masked-events.ts'
import { HeldMemory, maskedMemory } from './memory.ts'
import { errorOf, guarded, Refusal } from './refusal.ts'
import { type MaskRule, Masks } from './scanner.ts'
import { mapTexts } from './texts.ts'
import { WholeEvents, type WholeOutput, type WholeVerdict } from './whole.ts'

export type { ClientInput } from '../../runs/input-filter.ts'
export { Refusal, refuse } from './refusal.ts'
export type { MaskRule } from './scanner.ts'
export { type ChangeText, mapTexts } from './texts.ts'
export type { WholeOutput, WholeVerdict } from './whole.ts'

/** The data about a run that a guard gets. */
export interface GuardContext {
  readonly kind: Kind
  /** The requested name of the agent, team or workflow. */
  readonly name: string
  /** The id of the identity that middleware set. */
  readonly identity?: string | undefined
  readonly sessionId?: string | undefined
  /** Only for outputs: an input is checked before there is a run. */
  readonly runId?: string | undefined
  /** Fires when the client disconnects, and when the run has timed out. Pass it to everything that waits. */
  readonly signal: AbortSignal
}

/** Patterns to replace. */
export interface MaskGuard {
  /** At least one. Of two matches the earlier one counts, then that of the first pattern. */
  readonly mask: readonly MaskRule[]
  /**
   * For outputs: how many characters a stream lags, so that a match in several pieces is found. It must cover the longest match,
   * including the lookaround characters before and after it. 1 to 10,000. Default: 64.
   */
  readonly holdback?: number | undefined
}

/**
 * Checks client input before any of it is stored. Returns nothing to accept it, an object with the members to replace (`{ input
 * }`), or {@link refuse}. It may be called twice for the same input, and for its own replacement.
 */
export type OnInput = (
  clientInput: ClientInput,
  context: GuardContext,
) => ClientInput | Refusal | undefined | void | Promise<ClientInput | Refusal | undefined | void>

/**
 * Checks the whole output of a run before any of it is emitted. Returns nothing to accept it, a text that replaces all of it, or
 * {@link refuse}.
 */
export type OnOutput = (output: WholeOutput, context: GuardContext) => WholeVerdict | Promise<WholeVerdict>

/** A guard that waits for the whole output, with a limit. */
export interface WholeGuard {
  readonly whole: OnOutput
  /** Most characters to hold, 1 to 33,554,432. More fail the run with `run_too_large`. Default: 1,048,576. */
  readonly maxLength?: number | undefined
}

/** The guards of runs. Each guard sees what the one before it has accepted. */
export interface GuardSet {
  /** Guards of inputs, histories and answers. */
  readonly onInput?: OnInput | MaskGuard | readonly (OnInput | MaskGuard)[] | undefined
  /** Guards of outputs. A function waits for the whole output; `{ mask }` works on the stream. */
  readonly onOutput?:
    | OnOutput
    | WholeGuard
    | MaskGuard
    | readonly (OnOutput | WholeGuard | MaskGuard)[]
    | undefined
}

/**
 * The guards of all runs, and those of single agents, teams and workflows, by their served names. An input passes the guards of
 * all runs first, an output those of its own agent.
 */
export interface GuardsOptions extends GuardSet {
  readonly agents?: Readonly<Record<string, GuardSet>> | undefined
  readonly teams?: Readonly<Record<string, GuardSet>> | undefined
  readonly workflows?: Readonly<Record<string, GuardSet>> | undefined
}

const NAME = 'guards'

const DEFAULT_HOLDBACK = 64
const DEFAULT_MAX_LENGTH = 1024 * 1024

const RuleSchema = v.strictObject({
  pattern: v.pipe(
    v.instance(RegExp, 'must be a regular expression'),
    v.check(({ flags }) => !flags.includes('y'), 'must not have the flag y'),
  ),
  with: v.optional(
    v.union([v.string(), func, v.instance(Refusal)], 'must be a text, a function or refuse(…)'),
  ),
})

const MaskSchema = v.strictObject({
  mask: v.pipe(v.array(RuleSchema, 'must be an array'), v.nonEmpty('must have at least one pattern')),
  holdback: v.optional(v.pipe(count, v.maxValue(10_000, 'must be 10000 or less'))),
})

const WholeSchema = v.strictObject({
  whole: func,
  maxLength: v.optional(v.pipe(count, v.maxValue(33_554_432, 'must be 33554432 or less'))),
})

const inputGuard = v.lazy(guard => (isFunction(guard) ? v.unknown() : MaskSchema))

const outputGuard = v.lazy(guard => {
  if (isFunction(guard)) return v.unknown()
  return 'whole' in Object(guard) ? WholeSchema : MaskSchema
})

const oneOrMore = (guard: v.GenericSchema<unknown>) =>
  v.optional(v.lazy(given => (Array.isArray(given) ? v.array(guard) : guard)))

const setFields = { onInput: oneOrMore(inputGuard), onOutput: oneOrMore(outputGuard) }

const sets = v.optional(v.pipe(record, v.record(v.string(), v.strictObject(setFields))))

const OptionsSchema = v.strictObject({ ...setFields, agents: sets, teams: sets, workflows: sets })

/** Runs guards that refuse, replace or mask input and output, on every transport. Throws `invalid_options`. */
export function guards(options: GuardsOptions): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const ofAll = compiled(options)
  const byKind = {
    agent: compiledAll(options.agents),
    team: compiledAll(options.teams),
    workflow: compiledAll(options.workflows),
  }
  // A target with a scope belongs to a plugin, so names in the options do not refer to it.
  const ofOne = ({ kind, name, scope }: InputSource['target']) =>
    scope === undefined ? byKind[kind].get(name) : undefined
  return asPlugin({
    name: NAME,
    inputFilter: settings => async (clientInput, by) => {
      const inputGuards = [...ofAll.inputGuards, ...(ofOne(by.target)?.inputGuards ?? [])]
      return inputGuards.length === 0
        ? clientInput
        : checkInput(clientInput, by, { guards: inputGuards, timeoutMs: settings.runs.timeoutMs })
    },
    runMiddleware: settings => (run, next) => {
      // The first one wraps the others, so it sees an event last.
      const stages = [...(ofOne(run.target)?.stages ?? []), ...ofAll.stages].reverse()
      return (runMiddlewareOf(stages.map(stage => stage(settings))) ?? ((each, begin) => begin(each)))(
        run,
        next,
      )
    },
  })
}

/** Compiled guards. */
interface Compiled {
  readonly inputGuards: readonly InputGuard[]
  /** The first one sees an event first. */
  readonly stages: readonly ((settings: CoreSettings) => RunMiddleware)[]
}

function compiledAll(sets: Readonly<Record<string, GuardSet>> = {}): ReadonlyMap<string, Compiled> {
  return new Map(Object.entries(sets).map(([name, set]) => [name, compiled(set)]))
}

function compiled({ onInput = [], onOutput = [] }: GuardSet): Compiled {
  return { inputGuards: [onInput].flat().map(lookOf), stages: [onOutput].flat().map(stageOf) }
}

function lookOf(guard: OnInput | MaskGuard): InputGuard {
  if (typeof guard === 'function') {
    return (clientInput, by) =>
      guarded('input', () => guard(clientInput, contextOf(by.target, by, by.signal)))
  }
  const { mask } = new Masks(guard.mask)
  return clientInput => guarded('input', () => mapTexts(clientInput, mask))
}

function stageOf(guard: OnOutput | WholeGuard | MaskGuard): Compiled['stages'][number] {
  if ('mask' in guard) return maskingBy(guard)
  return holdingFor(typeof guard === 'function' ? { whole: guard } : guard)
}

function maskingBy({ mask: rules, holdback = DEFAULT_HOLDBACK }: MaskGuard): Compiled['stages'][number] {
  const masks = new Masks(rules)
  return ({ runs: { maxLength, maxEvents } }) =>
    (run, next) => {
      const { memory } = run.options
      const mask = (text: string) => maskedOrThrow(masks, text)
      const options = { ...run.options, ...(memory && { memory: maskedMemory(memory, mask) }) }
      const stage = new MaskedEvents(masks, { holdback, maxLength })
      return new GuardedEvents(() => next({ ...run, options }), stage, maxEvents)
    }
}

/** Masks the memory of an agent. A refusal is thrown at the append, and fails the run. */
function maskedOrThrow(masks: Masks, text: string): string {
  try {
    return masks.mask(text)
  } catch (thrown) {
    throw errorOf('output', thrown)
  }
}

function holdingFor({ whole, maxLength = DEFAULT_MAX_LENGTH }: WholeGuard): Compiled['stages'][number] {
  return ({ runs: { maxEvents, maxLength: maxMemory } }) =>
    (run, next) => {
      const { memory, runId, signal = new AbortController().signal } = run.options
      const held = new HeldMemory(maxMemory)
      const options = { ...run.options, ...(memory && { memory: held.of(memory) }) }
      const context = { ...contextOf(run.target, run.options, signal), runId }
      const stage = new WholeEvents(output => whole(output, context), { maxLength, onVerdict: held.settle })
      return new GuardedEvents(() => next({ ...run, options }), stage, maxEvents)
    }
}

function contextOf(
  { kind, name }: InputSource['target'],
  { identity, sessionId }: Pick<InputSource, 'identity' | 'sessionId'>,
  signal: AbortSignal,
): GuardContext {
  return { kind, name, identity, sessionId, signal }
}
