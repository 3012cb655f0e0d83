/**
 * One turn of a remote agent: what is sent, what is heard, and how it ends.
 *
 * @module
 */

import type { Message } from '@a2a-js/sdk'
import type { RunInput, RunOutcome } from '../../agents/contract.ts'
import type { RunContext, Yielded } from '../../agents/work/perform.ts'
import { keepAlive } from '../../base/environment.ts'
import { isRetired } from '../../base/retired.ts'
import { deferred } from '../../base/wake.ts'
import { withoutSecrets } from '../../web/secrets.ts'
import { waitFor } from '../frameworks/waits.ts'
import type { CardCache } from './card.ts'
import type { Contexts } from './contexts.ts'
import { CutEvents } from './cut-events.ts'
import { DEPTH, nextDepth } from './depth.ts'
import { failed, isLost, told, unknowable } from './failure.ts'
import { remoteFetch } from './fetch.ts'
import { Hearing, patiently } from './hearing.ts'
import type { RemoteSettings } from './options.ts'
import { textOfParts, toInput, toRemoteParts } from './parts.ts'
import { answeringParts, askedIn } from './requests.ts'
import { openService, type Payload, type RemoteService } from './service.ts'
import { type Found, findState, KEPT_BY, keepState, messageIdOf, type RemoteState } from './state.ts'
import { type RemoteEnd, Translator } from './translator.ts'

/** What all turns of a remote agent share. */
export interface Remote {
  readonly settings: RemoteSettings
  readonly cards: CardCache
  readonly contexts: Contexts
}

/** Runs one turn. */
export async function* runTurn(
  input: RunInput,
  context: RunContext,
  remote: Remote,
): AsyncGenerator<Yielded, RunOutcome> {
  const depth = nextDepth(context)
  const found = findState(context)
  if (found.waits !== undefined && found.state?.phase === 'waiting') return found.waits
  const { runId, sessionId, userId, identity, traceparent } = context
  // A Worker whose client has left would not cancel the task.
  const over = deferred<void>()
  keepAlive(over.promise)
  const fetch = remoteFetch(remote.settings, { runId, sessionId, userId, identity }, traceparent)
  try {
    const read = () => remote.cards.read(fetch, context.signal)
    // The task may be at work: a service that cannot be reached for a moment is no reason to leave it.
    const chosen = await (found.isCut ? patiently(read, context.signal, remote.settings.pollMs) : read())
    const service = await openService(chosen, remote.settings, fetch)
    return yield* new Turn(input, context, remote, service, found, depth).run()
  } catch (error) {
    throw context.signal.aborted ? error : told(error, fetch.values())
  } finally {
    over.resolve()
  }
}

class Turn {
  readonly #input: RunInput
  readonly #context: RunContext
  readonly #remote: Remote
  readonly #service: RemoteService
  readonly #found: Found
  readonly #depth: number
  #state: RemoteState | undefined
  #translator: Translator | undefined

  constructor(
    input: RunInput,
    context: RunContext,
    remote: Remote,
    service: RemoteService,
    found: Found,
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
      const payloads = isCut ? this.#goOn() : this.#hearing.send(await this.#message(), cancelTimeoutMs)
      for await (const payload of payloads) {
        const events = [...this.#translator!.see(payload)]
        this.#context.signal.throwIfAborted()
        await this.#hear()
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
      // A task that works on for nobody is cancelled. One that another worker goes on with is not.
      if (!isOver && !isRetired(this.#context.signal)) await this.#cancel()
      else if (isOver) this.#settle()
    }
  }

  get #hearing(): Hearing {
    const { pollMs } = this.#remote.settings
    return new Hearing(this.#service, this.#translator!, this.#context.signal, pollMs)
  }

  #begin(state: RemoteState): void {
    const { taskId, contextId, told, asked } = state
    this.#state = state
    this.#translator = new Translator({
      name: this.#remote.settings.name,
      ...{ taskId, contextId, told, answered: asked },
    })
  }

  /** Chooses the message's ids, and keeps them before anything is sent. */
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

  /** The task of the conversation that waits for credentials, if it still does, with what was told of it. */
  async #openTask(taskId: string | undefined): Promise<Pick<RemoteState, 'taskId' | 'told' | 'asked'>> {
    if (taskId === undefined) return {}
    const before = new Translator({ name: '', taskId })
    try {
      const task = await this.#service.get(taskId, this.#context.signal)
      // Read to its end: what it says was told by an earlier run.
      for (const _ of before.see({ $case: 'task', value: task }));
    } catch {
      // It is gone. The message begins another one.
      this.#context.signal.throwIfAborted()
    }
    const { end, told } = before
    return end?.state === 'auth-required' ? { taskId, told, asked: end.mark } : {}
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

  /** Goes on with what an earlier worker sent. Nothing is sent again. */
  async *#goOn(): AsyncGenerator<Payload> {
    const { taskId, isHeard, messageId, contextId, asked } = this.#state!
    const { signal } = this.#context
    const { pollMs } = this.#remote.settings
    if (taskId === undefined) {
      const task = await patiently(() => this.#find(signal), signal, pollMs)
      if (task === undefined) throw unknowable()
      this.#translator!.adopt(task.id, task.contextId || contextId)
    } else if (isHeard === undefined) {
      // An answer to a task that waited: the task says whether it has come.
      const { history, status } = await patiently(() => this.#service.get(taskId, signal), signal, pollMs)
      const isThere = history.some(message => message.messageId === messageId)
      const mark = status?.message?.messageId || status?.timestamp
      if (!isThere && (asked === undefined || mark === asked)) throw unknowable()
    }
    await this.#hear()
    // What the earlier worker noted for the session ended with it.
    if (isHeard) await this.#remember()
    yield* this.#hearing.follow()
  }

  /** The task of the message that was sent. Undefined if the service cannot say. */
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

  /** The service has answered: the task is kept before any of its events is told. */
  async #hear(): Promise<void> {
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

  /** Notes the context for the next run of the session, with a task that waits for credentials. */
  async #remember(taskId?: string): Promise<void> {
    const { contextId } = this.#state!
    await this.#remote.contexts.keep(this.#context, { contextId, ...(taskId !== undefined && { taskId }) })
  }

  async *#end({ state, parts: sent, mark }: RemoteEnd): AsyncGenerator<Yielded, RunOutcome> {
    const parts = withoutSecrets(sent, this.#service.secrets())
    const message = toInput(parts)
    const said = message === undefined ? {} : { message }
    switch (state) {
      case 'answered':
        return { finishReason: 'stop' }
      case 'completed':
        if (this.#translator!.hasAnswer || message === undefined) return { finishReason: 'stop', ...said }
        // Where nothing else is said, this is the answer.
        yield { type: 'message', parts }
        return { finishReason: 'stop' }
      case 'canceled':
        return { finishReason: 'cancelled', ...said }
      case 'rejected':
        return { finishReason: 'rejected', ...said }
      case 'auth-required':
        await this.#remember(this.#translator!.taskId)
        return { finishReason: 'auth_required', ...said }
      case 'input-required': {
        const next = { ...this.#state!, phase: 'waiting', told: this.#translator!.told, asked: mark } as const
        const waits = await waitFor(this.#context, KEPT_BY, askedIn(parts), () => next)
        this.#state = next
        return waits
      }
      case 'failed':
        this.#settle()
        throw failed(`The remote agent failed: ${textOfParts(parts) || 'it does not say why'}`)
    }
  }

  /** Nothing is left to do, unless the task waits. */
  #settle(): void {
    const state = this.#state
    if (state?.phase !== 'sent') return
    this.#state = { ...state, phase: 'ended' }
    keepState(this.#context, this.#state)
  }

  /** Cancels the task, as far as that can be done in time. */
  async #cancel(): Promise<void> {
    const hasSent = this.#state?.phase === 'sent'
    const isWorking = this.#translator?.end === undefined || isInterrupted(this.#translator.end)
    this.#settle()
    if (!hasSent || !isWorking) return
    const signal = AbortSignal.timeout(this.#remote.settings.cancelTimeoutMs)
    try {
      // A message whose answer nobody waited for may have begun a task.
      const isUnheard = this.#translator?.taskId === undefined && this.#context.signal.aborted
      const id = isUnheard ? (await this.#find(signal))?.id : this.#translator?.taskId
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
