/**
 * A tool: a named function that an agent can call.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { AppPage, ToolCaller } from './app-page.ts'
import type { AnsweredBy, RunCaller, TraceparentOf } from './run-types.ts'

/** The run that calls a tool, as the tool sees it. */
export interface ToolContext extends RunCaller {
  readonly runId: string
  readonly toolCallId: string
  /**
   * The same each time this call of this run is done: pass it to services that take an idempotency key. It consists of the id of
   * the first run of the chain, a slash and the path of the call.
   */
  readonly idempotencyKey: string
  /** How many times this call of this run has begun, from 1. It is more if the process died in the middle of the call. */
  readonly attempt: number
  /** Who approved the call. Absent for one that needed no approval, and over a framework that asks by itself. */
  readonly approval?: AnsweredBy | undefined
  /** Fires when the run ends early. */
  readonly signal: AbortSignal
}

/** The facts of a single call. */
export type CallFacts = Pick<ToolContext, 'toolCallId' | 'idempotencyKey' | 'attempt' | 'approval' | 'signal'>

/** The facts of the run that makes a call. */
export interface CallingRun extends RunCaller {
  readonly runId: string
  readonly traceparentOf?: TraceparentOf | undefined
}

/** Makes the context of a tool from its run: who asks and for what, without provider keys. With `name` the call begins. */
export function toolContextOf(run: CallingRun, call: CallFacts, name?: string): ToolContext {
  const { runId, sessionId, userId, identity, requestId } = run
  const traceparent = run.traceparentOf?.(call.toolCallId, name) ?? run.traceparent
  return { runId, sessionId, userId, identity, requestId, traceparent, ...call }
}

/** The type of {@link Tool.needsApproval}. If the function throws, the run fails. */
export type NeedsApproval<Args> = boolean | ApprovalCheck<Args>['check']

/** A method, not a function member, so that a tool with any argument type is assignable to `Tool`. */
interface ApprovalCheck<Args> {
  check(args: Args, context: ToolContext): boolean | Promise<boolean>
}

/** Hints about a tool (MCP, tool annotations). */
export interface ToolAnnotations {
  /** Whether it changes nothing. */
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  /** Whether calling it twice with the same arguments is the same as calling it once. */
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** What happens to a call that a dying process cut off: it is done again, a person is asked, or it fails with `interrupted`. */
export type OnRepeat = 'run' | 'ask' | 'fail'

/** What a tool says about calls that may be done again. */
interface Repeats {
  /** Default: none. */
  readonly annotations?: ToolAnnotations | undefined
  /**
   * What happens to a call that a dying process cut off, in a run that goes on. Nobody knows whether such a call had its effect.
   * Default: `run` with `readOnlyHint` or `idempotentHint`, else `ask`.
   */
  readonly onRepeat?: OnRepeat | undefined
}

/** A named function with described parameters that an agent can call. */
export interface Tool<Args = unknown, Result = unknown> extends Repeats {
  readonly name: string
  readonly description?: string | undefined
  /**
   * JSON Schema of the arguments, or a schema that offers one. Arguments from a model are checked: by a Standard Schema
   * completely, by plain JSON Schema in `type` and `required` only.
   */
  readonly parameters?: unknown
  /** Whether a person must approve a call before it runs, or a function that decides it per call. Default: false. */
  readonly needsApproval?: NeedsApproval<Args> | undefined
  /** Whether the person who approves a call may edit its arguments. Default: false. */
  readonly editable?: boolean | undefined
  /** A page that shows its results, made by `appPage` of `servable/mcp`. Default: none. */
  readonly page?: AppPage | undefined
  /** Who may call it: models, or pages. With `['app']` no model sees it. Default: both, if it has a page. */
  readonly visibility?: readonly ToolCaller[] | undefined
  /** Does the work. It must resolve with JSON. */
  execute(args: Args, context: ToolContext): Result | Promise<Result>
}

/** The type of the arguments: the output of a Standard Schema (valibot, zod, ArkType), else unknown. */
export type ArgsOf<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : unknown

/** A tool whose arguments have the type of its schema. */
export interface ToolOf<Schema, Result = unknown> extends Repeats {
  readonly name: string
  readonly description?: string | undefined
  readonly parameters?: Schema
  readonly needsApproval?: NeedsApproval<ArgsOf<Schema>> | undefined
  readonly editable?: boolean | undefined
  readonly page?: AppPage | undefined
  readonly visibility?: readonly ToolCaller[] | undefined
  execute(args: ArgsOf<Schema>, context: ToolContext): Result | Promise<Result>
}

/** Tools, each with the arguments of its own schema. */
export type ToolsOf<Schemas extends readonly unknown[]> = {
  readonly [Index in keyof Schemas]: ToolOf<Schemas[Index]>
}

/**
 * Returns the tool as it is, and types the arguments of `execute` by its schema. Use it for a tool that is written apart from
 * its agent.
 *
 * @example
 * const forecast = tool({
 *   name: 'forecast',
 *   parameters: v.object({ city: v.string() }),
 *   execute: ({ city }) => `Sunny in ${city}`,
 * })
 */
export function tool<Schema = unknown, Result = unknown>(
  definition: ToolOf<Schema, Result>,
): Tool<ArgsOf<Schema>, Result> {
  return definition
}

/** What a person sees who is asked about a call that was cut off. */
export const CUT_OFF =
  'The server stopped in the middle of this call, so it may have had its effect. Approve it to do it again.'

/** What happens to a call of a tool that was cut off. */
export function onRepeatOf({ annotations = {}, onRepeat }: Repeats): OnRepeat {
  const { readOnlyHint = false, idempotentHint = false } = annotations
  return onRepeat ?? (readOnlyHint || idempotentHint ? 'run' : 'ask')
}

/** The error of a call that was cut off and is not done again. */
export function cutOff(name: string): ServableError {
  const text = `The server stopped in the middle of a call of \`${name}\`, so it may have had its effect`
  return new ServableError('interrupted', text)
}

/** Whether a call must be approved. */
export async function needsApproval<Args, Result>(
  { needsApproval: needs = false }: Pick<Tool<Args, Result>, 'needsApproval'>,
  args: Args,
  context: ToolContext,
): Promise<boolean> {
  return typeof needs === 'function' ? needs(args, context) : needs
}

/** Tools that belong together, such as those for one service. */
export interface Toolkit {
  readonly name: string
  readonly description?: string | undefined
  readonly tools: readonly Tool[]
  /** For the catalog: the kind of the toolkit, and what it needs. */
  readonly category?: string | undefined
  readonly requiresCredentials?: boolean | undefined
  readonly configFields?: readonly ConfigField[] | undefined
}

/** A setting that a toolkit needs before it works. */
export interface ConfigField {
  readonly name: string
  readonly description?: string | undefined
  readonly required?: boolean | undefined
  /** Whether it must not be shown or logged. */
  readonly secret?: boolean | undefined
}
