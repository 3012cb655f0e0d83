/**
 * The chats of a service: starts the run of a message, continues a run with answers, and finds the run that a chat has at work.
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
import { askedRunInSession } from '../encoders/edits.ts'
import { encoded, encodedLogs } from '../encoders/encoder.ts'
import { answersIn, waitingRunOf } from './answers.ts'
import { historyOf, inputOf, newestOf, type UiChatBody, type UiMessage } from './messages.ts'
import { MessageStream } from './stream.ts'

/** Most runs of one message that are sent again. */
const MAX_CHAIN = 100

/** Most pages of a list that are read to find a run at work. */
const MAX_PAGES = 10
/** Runs of a page. */
const PAGE = 100

/** The answer to a chat: the id of the run, and its stream or whole text. */
export interface ChatAnswer {
  readonly runId: string
  readonly source: SseSource | string
}

/** A request of a page, for one servable. */
export interface ChatRequest {
  readonly target: Target
  readonly request: Request
  readonly state: RequestState
}

/** Answers, reconnects and stops chats. */
export class Chats {
  readonly #core: Core
  /** Whether runs outlive their page. */
  readonly #resume: boolean

  constructor(core: Core, resume: boolean) {
    this.#core = core
    this.#resume = resume
  }

  /** Answers the newest message. A user message starts a run. An assistant message has answers, which continue a run. */
  answer(chat: UiChatBody, asking: ChatRequest): Promise<ChatAnswer> {
    const newest = newestOf(chat)
    return newest.role === 'user' ? this.#start(chat, newest, asking) : this.#continue(newest, asking)
  }

  /** The stream of the run that a chat has at work, from the beginning of its message. Undefined if no run is at work. */
  async reconnect(chatId: string, { target, request, state }: ChatRequest): Promise<ChatAnswer | undefined> {
    const [running] = await this.#running(chatId, target, state, 1)
    if (running === undefined) return undefined
    const chain = await this.#chainOf(running, state)
    const { id: runId } = running
    const stream = new MessageStream({ id: chain[0] ?? runId, runId, isStored: true })
    return { runId, source: await encodedLogs(chain, stream, this.#core, request, state) }
  }

  /** Cancels the runs that a chat has at work. */
  async stop(chatId: string, { target, state }: ChatRequest): Promise<void> {
    await checkPermitOf(this.#core.runs.permit, state, () => target)
    for (const { id } of await this.#running(chatId, target, state, PAGE)) {
      await this.#core.host.cancel(id, state.owner).catch(error => {
        if (!isServableError(error) || error.code !== 'run_ended') throw error
      })
    }
  }

  async #start(
    chat: UiChatBody,
    newest: UiMessage,
    { target, request, state }: ChatRequest,
  ): Promise<ChatAnswer> {
    const before = chat.messages.slice(0, -1)
    const isAgain = chat.trigger === 'regenerate-message' || chat.messageId === newest.id
    const asked = await askedRunInSession(
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
      // The id of the chat later finds a run that outlives its page.
      { ...asked, ...(this.#resume && { sessionId: chat.id, isBackground: true }) },
      new RequestAsker(request, state, this.#core.readKeys),
    )
    const { id, record } = started
    const message = { id, runId: id, isStored: record !== undefined }
    return this.#answerOf(id, encoded(started, new MessageStream(message), this.#core, request, state), state)
  }

  async #continue(message: UiMessage, { target, request, state }: ChatRequest): Promise<ChatAnswer> {
    const { host, answer, readKeys } = this.#core
    const id = waitingRunOf(message)
    const waiting = await host.get(id, state.owner)
    // Requests of another agent are answered at that agent.
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
      return this.#answerOf(started.id, encoded(started, stream, this.#core, request, state), state)
    // Some requests are still open.
    const { requests = [] } = record
    return {
      runId: id,
      source: stream.encode({ type: 'finish', finishReason: 'input_required', requests }),
    }
  }

  async #answerOf(runId: string, source: Promise<SseSource>, state: RequestState): Promise<ChatAnswer> {
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

/** All requests of a run, answered ones too. */
function requestsOf({ requests, result }: RunRecord): readonly InputRequest[] {
  return result?.requests ?? requests ?? []
}
