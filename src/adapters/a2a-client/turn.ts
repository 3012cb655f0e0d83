/**
 * One turn of a remote agent: sends the message, reads the answers, and returns the outcome.
 *
 * @module
 */

import type { Message } from '@a2a-js/sdk'
import type { RunInput, RunOutcome } from '../../agents/contract.ts'
import type { RunContext, Yielded } from '../../agents/work/perform.ts'
import { isRetired } from '../../base/abort.ts'
import { keepAlive } from '../../base/environment.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { deferred } from '../../base/wake.ts'
import { withoutSecrets } from '../../web/secrets.ts'
import { waitFor } from '../frameworks/waits.ts'
import type { CardCache } from './card.ts'
import type { Contexts } from './contexts.ts'
import { CutEvents } from './cut-events.ts'
import { failed, isLost, runErrorOf, unknowable } from './failure.ts'
import { remoteFetch } from './fetch.ts'
import type { RemoteSettings } from './options.ts'
import { textOfParts, toInput, toRemoteParts } from './parts.ts'
import { answeringParts, requestsIn } from './requests.ts'
import { openService, type Payload, type RemoteService } from './service.ts'
import { type FoundState, findState, KEPT_BY, keepState, messageIdOf, type RemoteState } from './state.ts'
import { TaskReader, withRetries } from './task-reader.ts'
import { type RemoteEnd, Translator } from './translator.ts'

/** What all turns of a remote agent share. */
export interface RemoteAgentParts {
  readonly settings: RemoteSettings
  readonly cards: CardCache
  readonly contexts: Contexts
}

/** Runs one turn. */
export async function* runTurn(
  input: RunInput,
  context: RunContext,
  remote: RemoteAgentParts,
): AsyncGenerator<Yielded, RunOutcome> {
  const depth = nextDepth(context)
  const found = findState(context)
  if (found.waits !== undefined && found.state?.phase === 'waiting') return found.waits
  const { runId, sessionId, userId, identity, traceparent } = context
  // Without this, a Worker whose client has disconnected would not cancel the task.
  const over = deferred<void>()
  keepAlive(over.promise)
  const fetch = remoteFetch(remote.settings, { runId, sessionId, userId, identity }, traceparent)
  try {
    const read = () => remote.cards.read(fetch, context.signal)
    // The task may be at work, so a service that is unreachable for a moment must not end the run.
    const chosen = await (found.isCut ? withRetries(read, context.signal, remote.settings.pollMs) : read())
    const service = await openService(chosen, remote.settings, fetch)
    return yield* new RemoteTurn(input, context, remote, service, found, depth).run()
  } catch (error) {
    throw context.signal.aborted ? error : runErrorOf(error, fetch.values())
  } finally {
    over.resolve()
  }
}

class RemoteTurn {
  readonly #input: RunInput
  readonly #context: RunContext
  readonly #remote: RemoteAgentParts
  readonly #service: RemoteService
  readonly #found: FoundState
  readonly #depth: number
  #state: RemoteState | undefined
  #translator: Translator | undefined

  constructor(
    input: RunInput,
    context: RunContext,
    remote: RemoteAgentParts,
    service: RemoteService,
    found: FoundState,
    depth: number,
  ) {
    this.#input = input
    this.#context = context
    this.#remote = remote
    this.#service = service
    this.#found = found
    this.#depth = depth
  }

  async *run(): AsyncGenerator<Yielded, RunOutcome> {
    const { state, isCut } = this.#found
    let isOver = false
    const cut = new CutEvents(this.#service.secrets)
    try {
      if (isCut && state !== undefined) this.#begin(state)
      else await this.#prepare()
      const { cancelTimeoutMs } = this.#remote.settings
      const payloads = isCut ? this.#continue() : this.#reader.send(await this.#message(), cancelTimeoutMs)
      for await (const payload of payloads) {
        const events = [...this.#translator!.see(payload)]
        this.#context.signal.throwIfAborted()
        await this.#acknowledge()
        for (const event of events) yield* cut.take(event)
        if (this.#translator!.end !== undefined) break
      }
      yield* cut.end()
      const outcome = yield* this.#end(this.#translator!.end!)
      isOver = true
      return outcome
    } catch (error) {
      yield* cut.end()
      throw error
    } finally {
      // A task without a run is cancelled. A task that another worker continues is not.
      if (!isOver && !isRetired(this.#context.signal)) await this.#cancel()
      else if (isOver) this.#settle()
    }
  }

  get #reader(): TaskReader {
    const { pollMs } = this.#remote.settings
    return new TaskReader(this.#service, this.#translator!, this.#context.signal, pollMs)
  }

  #begin(state: RemoteState): void {
    const { taskId, contextId, told: emitted, asked } = state
    this.#state = state
    this.#translator = new Translator({
      name: this.#remote.settings.name,
      ...{ taskId, contextId, emitted, answered: asked },
    })
  }

  /** Chooses the message's ids, and stores them before anything is sent. */
  async #prepare(): Promise<void> {
    const context = this.#context
    const { state: before } = this.#found
    const sends = (before?.sends ?? 0) + 1
    const messageId = await messageIdOf(context, sends)
    if (before?.phase === 'waiting') {
      this.#begin({ ...before, phase: 'sent', isHeard: undefined, messageId, sends })
    } else {
      const known = await this.#remote.contexts.find(context)
      const open = await this.#openTask(known?.taskId)
      const contextId = known?.contextId ?? crypto.randomUUID()
      const isFresh = known === undefined
      this.#begin({ phase: 'sent', ...{ contextId, isFresh, messageId, sends }, ...open })
    }
    await this.#keep({})
  }

  /** The task of the conversation that waits for credentials, if it still does, with what was emitted of it. */
  async #openTask(taskId: string | undefined): Promise<Pick<RemoteState, 'taskId' | 'told' | 'asked'>> {
    if (taskId === undefined) return {}
    const before = new Translator({ name: '', taskId })
    try {
      const task = await this.#service.get(taskId, this.#context.signal)
      // All events are read and dropped, because an earlier run has emitted them.
      for (const _ of before.see({ $case: 'task', value: task }));
    } catch {
      // The task no longer exists. The message begins another one.
      this.#context.signal.throwIfAborted()
    }
    const { end, emitted } = before
    return end?.state === 'auth-required' ? { taskId, told: emitted, asked: end.mark } : {}
  }

  async #message(): Promise<Message> {
    const { agentName, skillId, extensions } = this.#remote.settings
    const { messageId, contextId, taskId = '' } = this.#state!
    const { waiting } = this.#found
    return {
      messageId,
      contextId,
      taskId,
      role: ROLE_USER,
      parts: waiting.length > 0 ? answeringParts(waiting, this.#context) : toRemoteParts(this.#input),
      // Nothing else of the caller's metadata goes to another service.
      metadata: { [DEPTH]: this.#depth, ...(agentName && { agentName }), ...(skillId && { skillId }) },
      extensions: [...extensions],
      referenceTaskIds: [],
    }
  }

  /** Continues with the message of an earlier worker. Nothing is sent again. */
  async *#continue(): AsyncGenerator<Payload> {
    const { taskId, isHeard, messageId, contextId, asked } = this.#state!
    const { signal } = this.#context
    const { pollMs } = this.#remote.settings
    if (taskId === undefined) {
      const task = await withRetries(() => this.#find(signal), signal, pollMs)
      if (task === undefined) throw unknowable()
      this.#translator!.adopt(task.id, task.contextId || contextId)
    } else if (isHeard === undefined) {
      // The message answers a task that waited. The task shows whether the message has arrived.
      const { history, status } = await withRetries(() => this.#service.get(taskId, signal), signal, pollMs)
      const isThere = history.some(message => message.messageId === messageId)
      const mark = status?.message?.messageId || status?.timestamp
      if (!isThere && (asked === undefined || mark === asked)) throw unknowable()
    }
    await this.#acknowledge()
    // The note of the earlier worker for the session was lost with that worker.
    if (isHeard) await this.#remember()
    yield* this.#reader.follow()
  }

  /** Finds the task of the message that was sent. Undefined if the service cannot tell. */
  async #find(signal: AbortSignal) {
    const { contextId, messageId, isFresh } = this.#state!
    const tasks = await this.#service.list(contextId, signal).catch(error => {
      if (signal.aborted || isLost(error)) throw error
      // Services of 0.3 have no lists.
      return []
    })
    const own = tasks.find(({ history }) => history.some(message => message.messageId === messageId))
    return own ?? (isFresh && tasks.length === 1 ? tasks[0] : undefined)
  }

  /** Once the service has answered, stores the task before any of its events is emitted. */
  async #acknowledge(): Promise<void> {
    const { taskId, contextId } = this.#translator!
    if (this.#state!.isHeard || (taskId === undefined && this.#translator!.end === undefined)) return
    await this.#keep({ taskId, contextId: contextId ?? this.#state!.contextId, isHeard: true })
    await this.#remember()
  }

  async #keep(changes: Partial<RemoteState>): Promise<void> {
    this.#state = { ...this.#state!, ...changes }
    keepState(this.#context, this.#state)
    await this.#context.work.checkpoint()
  }

  /** Stores the context for the next run of the session, with the task that waits for credentials. */
  async #remember(taskId?: string): Promise<void> {
    const { contextId } = this.#state!
    await this.#remote.contexts.keep(this.#context, { contextId, ...(taskId !== undefined && { taskId }) })
  }

  async *#end({ state, parts: sent, mark }: RemoteEnd): AsyncGenerator<Yielded, RunOutcome> {
    const parts = withoutSecrets(sent, this.#service.secrets())
    const message = toInput(parts)
    const own = message === undefined ? {} : { message }
    switch (state) {
      case 'answered':
        return { finishReason: 'stop' }
      case 'completed':
        if (this.#translator!.hasAnswer || message === undefined) return { finishReason: 'stop', ...own }
        // Without any other content, the status message is the answer.
        yield { type: 'message', parts }
        return { finishReason: 'stop' }
      case 'canceled':
        return { finishReason: 'cancelled', ...own }
      case 'rejected':
        return { finishReason: 'rejected', ...own }
      case 'auth-required':
        await this.#remember(this.#translator!.taskId)
        return { finishReason: 'auth_required', ...own }
      case 'input-required': {
        const next = {
          ...this.#state!,
          phase: 'waiting',
          told: this.#translator!.emitted,
          asked: mark,
        } as const
        const waits = await waitFor(this.#context, KEPT_BY, requestsIn(parts), () => next)
        this.#state = next
        return waits
      }
      case 'failed':
        this.#settle()
        throw failed(`The remote agent failed: ${textOfParts(parts) || 'it does not say why'}`)
    }
  }

  /** Stores that nothing is left to do, unless the task waits. */
  #settle(): void {
    const state = this.#state
    if (state?.phase !== 'sent') return
    this.#state = { ...state, phase: 'ended' }
    keepState(this.#context, this.#state)
  }

  /** Tries to cancel the task, for at most `cancelTimeoutMs`. Never rejects. */
  async #cancel(): Promise<void> {
    const hasSent = this.#state?.phase === 'sent'
    const isWorking = this.#translator?.end === undefined || isInterrupted(this.#translator.end)
    this.#settle()
    if (!hasSent || !isWorking) return
    const signal = AbortSignal.timeout(this.#remote.settings.cancelTimeoutMs)
    try {
      // A message without an answer may have begun a task.
      const isUnanswered = this.#translator?.taskId === undefined && this.#context.signal.aborted
      const id = isUnanswered ? (await this.#find(signal))?.id : this.#translator?.taskId
      if (id !== undefined) await this.#service.cancel(id, signal)
    } catch {
      // The run has ended in any case.
    }
  }
}

function isInterrupted({ state }: RemoteEnd): boolean {
  return state === 'input-required' || state === 'auth-required'
}

/** `ROLE_USER`. */
const ROLE_USER = 1

/** The member of a message's metadata that has the count. */
const DEPTH = 'servable/depth'

/** Most services that one request may pass. */
const MAX_DEPTH = 8

/** The depth of a message of this run. Throws `unsupported_operation` for a depth above the limit. */
function nextDepth({ metadata }: Pick<RunContext, 'metadata'>): number {
  const message = metadata?.message
  const own = isObject(message) && isObject(message.metadata) ? message.metadata[DEPTH] : 0
  const depth = typeof own === 'number' && own > 0 ? Math.ceil(own) : 0
  if (depth < MAX_DEPTH) return depth + 1
  throw new ServableError(
    'unsupported_operation',
    `The request has come over ${MAX_DEPTH} services, so no further remote agent is called`,
  )
}
