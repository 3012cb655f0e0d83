/**
 * Starts a run that continues another one: after answers, or after its process died. The owner stays the same, whoever asks for
 * it. Also runs an input again.
 *
 * @module
 */

import type { Answer, RunInput, RunOptions } from '../../agents/contract.ts'
import { hasKeys } from '../../agents/redacted.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { checkPermit } from '../../runs/permit.ts'
import type { StartRequest } from '../../runs/stored/host.ts'
import { partitionOf, type RunRecord } from '../../runs/stored/record.ts'
import type { WaitingRuns } from '../../runs/waiting/approvals.ts'
import type { DecidedRun } from '../../runs/waiting/asking.ts'
import { type Answering, keyRequired, type NextRun, requestOptionsOf } from '../../runs/waiting/waiting.ts'
import type { Catalog } from '../catalog.ts'
import { createStoredClientOf } from '../security/client-of.ts'
import {
  type Asker,
  answererOf,
  runOptionsOf,
  StartedRun,
  type StartParts,
  type StartRun,
  transportOf,
} from './start-run.ts'

/** What continuing runs needs. */
export type GoOnParts = StartParts & { readonly catalogOf: (scope?: string) => Pick<Catalog, 'resolve'> }

/**
 * How a run continues. Default: without anything of the caller who answered, and in the background, since no follower has asked
 * for it.
 */
export type GoingOn = Pick<
  StartRequest,
  'options' | 'secrets' | 'isBackground' | 'keepsInput' | 'transport'
> &
  Pick<AskedAgain, 'metadata'>

/** Starts the run that continues another, or returns it if it exists. */
export async function goOn(
  { id, client, input, continues, target, options, webhook }: NextRun,
  { host, catalogOf }: Pick<GoOnParts, 'host' | 'catalogOf'>,
  { metadata, ...how }: GoingOn = { options: {}, isBackground: true },
): Promise<{ readonly record: RunRecord; readonly owner: string | null }> {
  const { kind, name, scope } = target
  const owner = options.identity ?? null
  const record = await host.start({
    target: catalogOf(scope).resolve(kind, name),
    input,
    ...how,
    options: {
      ...how.options,
      ...requestOptionsOf(options),
      ...(metadata && { metadata }),
      // This is the answering caller's. The one of the run that waited is in `continues`.
      traceparent: how.options.traceparent,
      runId: id,
    },
    owner,
    client,
    continues,
    webhook,
  })
  return { record, owner }
}

/** Which run to continue or to run again, and how. */
export interface AskedAgain {
  readonly id: string
  /** As for a run. */
  readonly apiKey?: string | undefined
  readonly isBackground?: boolean
  readonly keepsInput?: boolean
  /** Replaces the metadata of the earlier run. */
  readonly metadata?: RunOptions['metadata']
  /** An idempotency key of the new run. */
  readonly key?: string | undefined
}

/** What is different when a run runs again. */
export interface AskedRetry extends AskedAgain {
  /** Default: the input of the run. */
  readonly input?: RunInput | undefined
  /** Null for none. Default: the session of the run. */
  readonly sessionId?: string | null | undefined
  /** The id of a step or a tool call that is done. It and the work before it are not done again. */
  readonly from?: string | undefined
}

/** Answers to requests of a stored run, and how to start the run that continues it. */
export interface AskedAnswers extends AskedAgain {
  readonly answers: readonly Answer[]
}

/** The result of answers: the record, and the next run after the last one. */
export interface AnswerOutcome {
  readonly record: RunRecord | DecidedRun
  readonly started?: StartedRun | undefined
}

/** Makes the function that continues a run with the facts of its caller. */
function createGoOnFor({ host, catalogOf, runs }: GoOnParts) {
  const storedClientOf = createStoredClientOf()
  return async (
    next: NextRun,
    isNew: boolean,
    { apiKey, isBackground = false, keepsInput, metadata }: AskedAgain,
    asker: Asker,
  ) => {
    const client = next.client ?? (await storedClientOf(asker))
    const options = runOptionsOf({ apiKey }, asker)
    const transport = transportOf(asker, { runs })
    const how = { options, secrets: asker.secrets(), isBackground, keepsInput, transport, metadata }
    const { record, owner } = await goOn({ ...next, client }, { host, catalogOf }, how)
    return new StartedRun(undefined, record, host, owner, isNew)
  }
}

/** Whether the caller has a key of a model's provider. */
function hasKeyOf({ apiKey }: AskedAgain, asker: Asker): boolean {
  return hasKeys(runOptionsOf({ apiKey }, asker))
}

/**
 * Answers requests of a waiting run. The last answer starts the next run, as a stored one; the same answers again return it.
 * Throws as `RunHost.answer` and {@link StartRun} do, and `forbidden` for requests that the caller may not decide.
 */
export type AnswerRun = (asked: AskedAnswers, asker: Asker) => Promise<AnswerOutcome>

/** Makes an {@link AnswerRun}. */
export function createAnswerRun(parts: GoOnParts): AnswerRun {
  const { runs } = parts
  const goOnFor = createGoOnFor(parts)
  const answer = async (
    asked: AskedAnswers,
    asker: Asker,
    only: readonly string[] | undefined,
  ): Promise<AnswerOutcome> => {
    const waiting = screened(parts, asker)
    // A caller that may run only some targets answers only for itself.
    const decided =
      only === undefined
        ? await runs.approvals?.decide(waiting, asked, asker, next => goOn(next, parts))
        : undefined
    if (decided !== undefined) return { record: decided }
    const nextId = crypto.randomUUID()
    const by = { hasKey: hasKeyOf(asked, asker), only }
    const { record, next } = await waiting.answer(asked.id, asker.owner, asked.answers, nextId, by)
    if (next === undefined) return { record }
    return { record, started: await goOnFor(next, next.id === nextId, asked, asker) }
  }
  return async (asked, asker) => {
    const only = await runs.permit?.(asker)
    try {
      return await answer(asked, asker, only)
    } catch (error) {
      if (!isServableError(error) || error.code !== 'run_not_found') throw error
      const { id, answers, apiKey } = asked
      const options = runOptionsOf({ apiKey }, asker)
      const by = { hasKey: hasKeys(options), only, who: answererOf(asker) }
      const given = { answers, options, secrets: asker.secrets(), by }
      const record = await runs.approvals?.answerTask(id, given, asker)
      if (record === undefined) throw error
      return { record }
    }
  }
}

/** Wraps the host, so that it knows who answers, answers are filtered first, and the next run is admitted before the last answer. */
function screened(parts: GoOnParts, asker: Asker): WaitingRuns {
  const { owner, signal } = asker
  const { host, runs } = parts
  const { inputFilter, admit } = runs
  const who = answererOf(asker)
  return {
    asking: id => host.asking(id),
    async answer(id, viewer, given, next, asked) {
      const by = { ...asked, who }
      if (inputFilter === undefined && admit === undefined) return host.answer(id, viewer, given, next, by)
      const record = await host.get(id, viewer)
      const { kind, name, sessionId } = record
      const source = { target: { kind, name }, sessionId, identity: owner ?? undefined, signal }
      const { answers = given } = (await inputFilter?.({ answers: given }, source)) ?? {}
      if (isLast(answers, record)) await checkAdmitted(id, viewer, by, parts)
      return host.answer(id, viewer, answers, next, by)
    },
  }
}

/** Whether these answers leave no request open. */
function isLast(answers: readonly Answer[], { requests = [] }: RunRecord): boolean {
  return requests.length > 0 && requests.every(({ id }) => answers.some(answer => answer.id === id))
}

/**
 * Throws if the next run would not be admitted, as when a budget is used up. Then nothing is decided. A caller that decides for another
 * owner does not learn about that owner's budget.
 */
async function checkAdmitted(
  id: string,
  viewer: string | null,
  { isOther }: Answering,
  { host, runs: { admit }, catalogOf }: GoOnParts,
): Promise<void> {
  if (admit === undefined) return
  const { target, input, options, client = partitionOf(viewer) } = await host.asked(id, viewer)
  const { kind, name, scope } = target
  const run = {
    id: crypto.randomUUID(),
    target: catalogOf(scope).resolve(kind, name),
    input,
    options,
    client,
    continues: true,
  }
  try {
    await (await admit(run))()
  } catch (error) {
    if (!isOther || !isServableError(error)) throw error
    throw new ServableError(error.code, 'The run may not go on now: try again later', { cause: error })
  }
}

/** Continues runs, and runs inputs again. */
export interface RunAgain {
  /**
   * Continues a run that was interrupted, or whose requests are all answered. Its owner calls it, with the key that the run
   * needs. The run continues in the background. Throws `key_required`, and `not_resumable` for any other run.
   */
  resume(asked: AskedAgain, asker: Asker): Promise<StartedRun>
  /**
   * Runs the input of a stored run again. Throws `input_not_kept`, `key_required`, and as {@link StartRun} does. With `from` also
   * `not_resumable` if its work was not kept, or if the agent has another version now.
   */
  retry(asked: AskedRetry, asker: Asker): Promise<StartedRun>
}

/** Makes a {@link RunAgain}. */
export function createRunAgain(parts: GoOnParts & { readonly start: StartRun }): RunAgain {
  const { host, catalogOf, start, runs } = parts
  const goOnFor = createGoOnFor(parts)
  return {
    async resume(asked, asker) {
      const { id } = asked
      const { owner } = asker
      const nextId = crypto.randomUUID()
      const hasKey = hasKeyOf(asked, asker)
      const only = await runs.permit?.(asker)
      const { status, ...record } = await host.get(id, owner)
      checkPermit(only, record)
      const { next } =
        status === 'input_required'
          ? await host.answer(id, owner, [], nextId, { hasKey })
          : await host.resume(id, owner, { next: nextId, hasKey })
      // Its stored work exists only once, so leaving must not end it.
      if (next !== undefined)
        return goOnFor(next, next.id === nextId, { ...asked, isBackground: true }, asker)
      throw new ServableError('not_resumable', 'The run still waits for answers')
    },
    async retry(asked, asker) {
      const { id, apiKey, isBackground = false, key, from } = asked
      if (from !== undefined && asked.input !== undefined) {
        throw new ServableError(
          'invalid_body',
          'Give `input` or `from`: work that is taken over is of the same input',
        )
      }
      const kept = await host.asked(id, asker.owner, from)
      if (kept.usedKey === true && !hasKeyOf(asked, asker)) throw keyRequired()
      const { kind, name, scope } = kept.target
      const target = catalogOf(scope).resolve(kind, name)
      if (from !== undefined && target.servable.version !== kept.version) {
        throw new ServableError('not_resumable', `${name} is another version now: leave \`from\` out`)
      }
      const { input = kept.input, sessionId = kept.options.sessionId } = asked
      const { userId, history, clientTools, metadata } = kept.options
      return start(
        {
          ...{ target, input, sessionId: sessionId ?? undefined, userId, clientTools, metadata },
          ...(history && { history, memory: 'client' as const }),
          ...{ apiKey, isBackground, retryOf: id, ...(from !== undefined && { continues: kept.continues }) },
          ...(key !== undefined && {
            key: { key, body: { retry: id, input: asked.input, sessionId: asked.sessionId, from } },
          }),
        },
        asker,
      )
    },
  }
}
