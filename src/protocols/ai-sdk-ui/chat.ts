/**
 * The chats of a service: starts the run of a message, continues a run with answers, and finds the run that a chat has at work.
 *
 * @module
 */

import type { Caller, Context, InputRequest, RunRecord, Steered, Target } from '../../core-entry.ts'
import { Reply } from '../../web/reply.ts'
import { SSE_HEADERS } from '../../web/sse.ts'
import { askedRunInSession, ignoring } from '../encoders/index.ts'
import { answersIn, waitingRunOf } from './answers.ts'
import { historyOf, inputOf, newestOf, type UiChatBody, type UiMessage } from './messages.ts'
import { MessageStream } from './stream.ts'

/** Runs of a page, and most pages of a chat whose runs are stopped. */
const PAGE = 100
const MAX_PAGES = 10

/** Marks the stream (AI SDK, UI message stream protocol). */
const HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' }

/** A request of a page, for one servable. */
export interface ChatRequest {
  readonly target: Target
  readonly caller: Caller
  readonly context: Context
}

/** Answers, reconnects and stops chats. */
export class Chats {
  /** Whether runs outlive their page. */
  readonly #resume: boolean

  constructor(resume: boolean) {
    this.#resume = resume
  }

  /** Answers the newest message. A user message starts a run. An assistant message has answers, which continue a run. */
  answer(chat: UiChatBody, asking: ChatRequest): Promise<Reply> {
    const newest = newestOf(chat)
    return newest.role === 'user' ? this.#start(chat, newest, asking) : this.#continue(newest, asking)
  }

  /** The stream of the run that a chat has at work, from the beginning of its message. Undefined if no run is at work. */
  async reconnect(id: string, { target, caller }: ChatRequest): Promise<Reply | undefined> {
    const found = await caller.runs.newest({ target, id }, 'running')
    if (found === undefined) return undefined
    const { run, chain } = found
    const stream = new MessageStream({ id: chain[0] ?? run.id, runId: run.id, isStored: true })
    return caller.stream(chain, stream, { headers: HEADERS })
  }

  /** Cancels the runs that a chat has at work. */
  async stop(sessionId: string, { target, caller }: ChatRequest): Promise<void> {
    await caller.checkMayRun(target)
    const { kind, name } = target
    const query = { kind, name, sessionId, status: 'running' as const, limit: PAGE }
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const { runs, nextCursor } = await caller.runs.list({ ...query, cursor })
      await Promise.all(runs.map(({ id }) => caller.runs.cancel(id).catch(ignoring('run_ended'))))
      if (nextCursor === null) return
      cursor = nextCursor
    }
  }

  async #start(
    chat: UiChatBody,
    newest: UiMessage,
    { target, caller, context }: ChatRequest,
  ): Promise<Reply> {
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
      caller,
      context,
    )
    // The id of the chat later finds a run that outlives its page.
    const more = this.#resume && { sessionId: chat.id, isBackground: true }
    const { concurrency } = chat
    const started = await caller.start({ ...asked, ...more, concurrency, readsSteered: true })
    if (started.steered && concurrency === 'steer') return steeredReply(started.steered)
    const { id, record } = started
    const stream = new MessageStream({ id, runId: id, isStored: record !== undefined })
    return caller.stream(started, stream, { headers: HEADERS })
  }

  async #continue(message: UiMessage, { target, caller }: ChatRequest): Promise<Reply> {
    const id = waitingRunOf(message)
    const waiting = await caller.runs.get(id)
    // Requests of another agent are answered at that agent.
    const isOfTarget = waiting.kind === target.kind && waiting.name === target.name
    const asked = isOfTarget ? requestsOf(waiting) : []
    const answers = answersIn(message, asked)
    const { record, started } = await caller.runs.answer({ id, answers, isBackground: this.#resume })
    const stream = new MessageStream({
      ...{ id: message.id, runId: started?.id ?? id, isStored: true },
      ...{ answered: asked, given: answers },
    })
    if (started !== undefined) return caller.stream(started, stream, { headers: HEADERS })
    // Some requests are still open.
    const { requests = [] } = record
    const text = stream.encode({ type: 'finish', finishReason: 'input_required', requests })
    return new Reply(text, { headers: { ...SSE_HEADERS, ...HEADERS, 'x-run-id': id } })
  }
}

/** 202: the page has the stream of the run at work, which tells when it gets the message. */
function steeredReply({ into: id, ...steered }: Steered): Reply {
  const headers = { 'content-type': 'application/json', 'x-run-id': id }
  return new Reply(JSON.stringify({ id, steered: true, ...steered }), { status: 202, headers })
}

/** All requests of a run, answered ones too. */
function requestsOf({ requests, result }: RunRecord): readonly InputRequest[] {
  return result?.requests ?? requests ?? []
}
