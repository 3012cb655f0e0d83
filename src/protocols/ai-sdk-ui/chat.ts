/**
 * The chats of a service: starts the run of a message, goes on with answers, and finds the run that a chat has at work.
 *
 * @module
 */

import type { InputRequest } from '../../agents/contract.ts'
import { isServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { RequestState } from '../../http/context.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import type { RunRecord, RunSummary } from '../../runs/stored/record.ts'
import type { Target } from '../../runs/target.ts'
import type { SseSource } from '../../web/sse.ts'
import { askedBy } from '../encoders/edits.ts'
import { encoded, ofLogs } from '../encoders/encoder.ts'
import { answersIn, waitingRunOf } from './answers.ts'
import { type ChatBody, historyOf, inputOf, newestOf, type UiMessage } from './messages.ts'
import { MessageStream } from './stream.ts'

/** Runs that go on from each other in one message, which are told again. */
const MAX_CHAIN = 100

/** Pages of a list that are read for a run at work, and runs of a page. */
const MAX_PAGES = 10
const PAGE = 100

/** A stream, or all of it, and the run that it is of. */
export interface Told {
  readonly runId: string
  readonly source: SseSource | string
}

/** A request of a page, for one servable. */
export interface Asking {
  readonly target: Target
  readonly request: Request
  readonly state: RequestState
}

/** See the module's head. */
export class Chats {
  readonly #core: Core
  /** Runs outlive their page. */
  readonly #resume: boolean

  constructor(core: Core, resume: boolean) {
    this.#core = core
    this.#resume = resume
  }

  /** Answers the newest message: the user's starts a run, the assistant's has answers, with which a run goes on. */
  tell(chat: ChatBody, asking: Asking): Promise<Told> {
    const newest = newestOf(chat)
    return newest.role === 'user' ? this.#start(chat, newest, asking) : this.#goOn(newest, asking)
  }

  /** The run that a chat has at work, from the beginning of its message. */
  async again(chatId: string, { target, request, state }: Asking): Promise<Told | undefined> {
    const [running] = await this.#running(chatId, target, state, 1)
    if (running === undefined) return undefined
    const chain = await this.#chainOf(running, state)
    const { id: runId } = running
    const stream = new MessageStream({ id: chain[0] ?? runId, runId, isStored: true })
    return { runId, source: await ofLogs(chain, stream, this.#core, request, state) }
  }

  /** Cancels the runs that a chat has at work. */
  async stop(chatId: string, { target, state }: Asking): Promise<void> {
    await checkPermitOf(this.#core.runs.permit, state, () => target)
    for (const { id } of await this.#running(chatId, target, state, PAGE)) {
      await this.#core.host.cancel(id, state.owner).catch(error => {
        if (!isServableError(error) || error.code !== 'run_ended') throw error
      })
    }
  }

  async #start(chat: ChatBody, newest: UiMessage, { target, request, state }: Asking): Promise<Told> {
    const before = chat.messages.slice(0, -1)
    const isAgain = chat.trigger === 'regenerate-message' || chat.messageId === newest.id
    const asked = await askedBy(
      {
        thread: chat.id,
        input: inputOf(newest),
        messageId: newest.id,
        before: before.findLast(({ role }) => role === 'user')?.id,
        history: () => historyOf(before),
        clientTools: chat.clientTools,
        ...(isAgain && { replaces: 'must' as const }),
      },
      target,
      this.#core,
      state,
    )
    const started = await this.#core.start(
      // A run that outlives its page is found by the id of its chat.
      { ...asked, ...(this.#resume && { sessionId: chat.id, isBackground: true }) },
      new RequestAsker(request, state, this.#core.readKeys),
    )
    const { id, record } = started
    const message = { id, runId: id, isStored: record !== undefined }
    return this.#told(id, encoded(started, new MessageStream(message), this.#core, request, state), state)
  }

  async #goOn(message: UiMessage, { target, request, state }: Asking): Promise<Told> {
    const { host, answer, readKeys } = this.#core
    const id = waitingRunOf(message)
    const waiting = await host.get(id, state.owner)
    // What another agent has asked is answered there.
    const isOfTarget = waiting.kind === target.kind && waiting.name === target.name
    const asked = isOfTarget ? requestsOf(waiting) : []
    const answers = answersIn(message, asked)
    const asker = new RequestAsker(request, state, readKeys)
    const { record, started } = await answer({ id, answers, isBackground: this.#resume }, asker)
    const stream = new MessageStream({
      ...{ id: message.id, runId: started?.id ?? id, isStored: true },
      ...{ answered: asked, given: answers },
    })
    if (started !== undefined)
      return this.#told(started.id, encoded(started, stream, this.#core, request, state), state)
    // Some requests are still open.
    const { requests = [] } = record
    return {
      runId: id,
      source: stream.encode({ type: 'finish', finishReason: 'input_required', requests }),
    }
  }

  async #told(runId: string, source: Promise<SseSource>, state: RequestState): Promise<Told> {
    state.started(runId)
    return { runId, source: await source }
  }

  /** The runs that a chat has at work, newest first. */
  async #running(
    sessionId: string,
    { kind, name }: Target,
    { owner }: RequestState,
    limit: number,
  ): Promise<readonly RunSummary[]> {
    const query = { kind, name, sessionId, status: 'running' as const, limit }
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const { runs, nextCursor } = await this.#core.host.list(owner, { ...query, cursor })
      if (runs.length > 0 || nextCursor === null) return runs
      cursor = nextCursor
    }
    return []
  }

  /** The runs of one message, from the first on. */
  async #chainOf({ id, continuedFrom }: RunSummary, { owner }: RequestState): Promise<string[]> {
    const chain = [id]
    let from = continuedFrom
    while (from !== undefined && chain.length < MAX_CHAIN) {
      const record: RunRecord = await this.#core.host.get(from, owner)
      chain.unshift(record.id)
      from = record.continuedFrom
    }
    return chain
  }
}

/** What a run has asked, also what was answered by now. */
function requestsOf({ requests, result }: RunRecord): readonly InputRequest[] {
  return result?.requests ?? requests ?? []
}
