/**
 * The open chats of this page. A run continues while other screens or chats are shown.
 *
 * @module
 */

import { effect, type Signal, signal } from '@preact/signals'
import type { Kind, Answer as RequestAnswer, RunInput } from '../../src/agents/contract.ts'
import type { ServableClient } from '../../src/client/index.ts'
import { goTo, linkTo, route } from '../route.ts'
import { client, codeOf, config, providerKeys } from '../service.ts'
import { takePlace } from '../streams.ts'
import type { FilePart } from './files.ts'
import { NEW_ANSWER, waitingFor } from './parts.ts'
import {
  besideOf,
  failed,
  follow,
  goOnIn,
  isQueued,
  isRunning,
  isStored,
  newTurn,
  type Turn,
  turnsOf,
} from './turn.ts'

/** The user id for runs, if the service does not authenticate users. */
export const userId = signal('')

/** Most turns of a session that are loaded at once. */
const PAGE = 30

/** A conversation with an agent, a team or a workflow. */
export class Chat {
  readonly kind: Kind
  readonly name: string
  readonly turns: Signal<readonly Turn[]> = signal([])
  /** Why the messages of the session cannot be shown. */
  readonly failure: Signal<unknown> = signal(undefined)
  readonly isLoading: Signal<boolean> = signal(false)
  /** The cursor of earlier turns; null if there are none. */
  readonly earlier: Signal<string | null> = signal(null)
  /** The message that is edited, to be sent again. */
  readonly edited: Signal<Turn | undefined> = signal(undefined)
  /** The message that is being written. */
  readonly draft: Signal<Draft> = signal(NO_DRAFT)
  /** The session, once there is one. */
  readonly sessionId: Signal<string | undefined>

  constructor(kind: Kind, name: string, sessionId: string | undefined) {
    this.kind = kind
    this.name = name
    this.sessionId = signal(sessionId)
    if (sessionId !== undefined && hasSessions()) void this.load()
  }

  /** Whether a run is running. */
  get isBusy(): boolean {
    return this.turns.value.some(isRunning)
  }

  /** Whether a message can be sent while a run is running: it waits, or reaches that run. */
  get takesMore(): boolean {
    return isStored() && hasSessions() && this.sessionId.value !== undefined
  }

  /** Loads a page of the session's turns, before those that are shown. */
  async load(): Promise<void> {
    const { earlier, isLoading, failure } = this
    const sessionId = this.sessionId.value
    if (sessionId === undefined) return
    isLoading.value = true
    try {
      const query = { limit: PAGE, ...(earlier.value !== null && { cursor: earlier.value }) }
      const page = await client.sessions.messages(this, sessionId, query)
      const turns = turnsOf(page)
      this.turns.value = [...turns, ...this.turns.value]
      earlier.value = page.nextCursor
      const last = turns.at(-1)
      if (last !== undefined) await this.#goOn(last)
      this.#measure(sessionId).catch(() => {})
    } catch (error) {
      // The service creates a session with its first message.
      if (codeOf(error) !== 'session_not_found') failure.value = error
    } finally {
      isLoading.value = false
    }
  }

  /** Adds what the newest runs of the session took and used. Their turns do not tell it. */
  async #measure(sessionId: string): Promise<void> {
    if (!isStored() || !config.value.listsRuns) return
    const { kind, name } = this
    const { runs } = await client.runs.list({ kind, name, sessionId, limit: 100 })
    const known = new Map(runs.map(run => [run.id, run]))
    for (const { answer } of this.turns.value) {
      const { runId = '', status } = answer.value
      const run = known.get(runId)
      if (run === undefined || status === 'running') continue
      const { usage, durationMs, cost, error = answer.value.error } = run
      const used = usage && { ...usage, cost: cost ?? usage.cost }
      answer.value = { ...answer.value, error, usage: used, durationMs }
    }
  }

  /** Shows the branch with the turn of a run. The next message comes after it. */
  async choose(runId: string): Promise<void> {
    await client.sessions.setHead(this, `${this.sessionId.value}`, runId)
    this.edited.value = undefined
    this.turns.value = []
    this.earlier.value = null
    await this.load()
  }

  /** Shows a run that has no session, as the first turn. */
  async show(runId: string): Promise<void> {
    if (this.turns.value.length > 0) return
    this.isLoading.value = true
    try {
      const { input = '', status } = await client.runs.get(runId, { include: 'input' })
      const turn = newTurn({ input }, { ...NEW_ANSWER, runId })
      if (this.turns.value.length > 0) return
      this.turns.value = [turn]
      if (status !== 'queued') await follow(turn, client.runs.stream(runId))
    } catch (error) {
      this.failure.value = error
    } finally {
      this.isLoading.value = false
    }
  }

  /** Sends a message. It may replace an earlier message and all later ones. */
  async send(input: RunInput, replaced?: Turn): Promise<void> {
    this.edited.value = undefined
    const messageId = replaced?.messageId ?? newId()
    // A message whose run never began is not in the session, but the message that it was to replace is.
    const replaces =
      replaced !== undefined && (replaced.replaces || replaced.answer.value.runId !== undefined)
    const turn = newTurn({ input, messageId, replaces, beside: replaced && besideOf(replaced) })
    const { answer } = turn
    const turns = this.turns.value
    const from = replaced ? turns.indexOf(replaced) : turns.length
    this.turns.value = [...turns.slice(0, from), turn]
    let free = () => {}
    try {
      free = await takeConnection()
      // A waiting request could still be approved, and would run then.
      await Promise.all(turns.slice(from).map(giveUp))
      await this.#begin()
    } catch (error) {
      free()
      answer.value = failed(answer.value, error)
      return
    }
    const { kind, name } = this
    const sessionId = this.sessionId.value
    const options = {
      signal: turn.aborting.signal,
      ...callerOf(),
      ...(sessionId !== undefined && { sessionId, messageId, replaces: replaces ? messageId : undefined }),
    }
    const servable: ServableClient = client[kind](name)
    const events = isStored()
      ? servable.stream(input, options)
      : servable.stream(input, { ...options, follow: false })
    await follow(turn, events).finally(free)
  }

  /** Sends a message while a run is running. It waits for a run of its own, or with `steer` reaches the run if that takes it. */
  async sendMore(input: RunInput, concurrency: 'queue' | 'steer'): Promise<void> {
    const messageId = newId()
    const before = this.turns.value.filter(each => isRunning(each) || isQueued(each))
    const turn = newTurn({ input, messageId }, { ...NEW_ANSWER, status: 'queued' })
    const { answer } = turn
    this.turns.value = [...this.turns.value, turn]
    const isTaken = () => before.some(each => each.answer.value.steered?.includes(messageId))
    const isNext = () =>
      !before.some(each => this.turns.value.includes(each) && (isRunning(each) || isQueued(each)))
    try {
      const sessionId = this.sessionId.value
      const options = { ...callerOf(), sessionId, messageId, concurrency }
      const started: StartedMore = await client.runs.start(this, input, options)
      const runId = started.next ?? started.id
      answer.value = { ...answer.value, runId }
      const isGone = () => !this.turns.value.includes(turn)
      await until(() => isGone() || isTaken() || isNext())
      if (isTaken()) this.#remove(turn)
      if (isGone()) return
      answer.value = { ...answer.value, status: 'running' }
      await follow(turn, client.runs.stream(runId))
    } catch (error) {
      answer.value = failed(answer.value, error)
    }
  }

  /** Stops the run of a message. */
  stop({ answer, aborting }: Turn): void {
    const { runId } = answer.value
    if (isStored() && runId !== undefined) client.runs.cancel(runId).catch(() => aborting.abort())
    else aborting.abort()
  }

  /** Takes back a message that waits. One that has begun meanwhile stays. */
  async withdraw(turn: Turn): Promise<void> {
    const { runId } = turn.answer.value
    if (runId === undefined) return
    await client.runs.cancel(runId)
    if (isQueued(turn)) this.#remove(turn)
  }

  #remove(turn: Turn): void {
    this.turns.value = this.turns.value.filter(each => each !== turn)
  }

  /** Answers the requests of a run. */
  async respond(turn: Turn, answers: readonly RequestAnswer[]): Promise<void> {
    const { answer } = turn
    const options = { keys: providerKeys.value }
    const answered = await client.runs
      .answer(`${answer.value.runId}`, answers, options)
      .catch(async error => {
        if (!(await this.lookAgain(turn))) throw error
      })
    if (!answered) return
    const { record, next } = answered
    if (next !== undefined) await goOnIn(turn, next.id, next.stream())
    else answer.value = { ...answer.value, requests: record.requests ?? [] }
  }

  /**
   * Loads the requests of a run again. Returns true, and follows the run that continues, if somebody else has answered all of
   * them.
   */
  async lookAgain(turn: Turn): Promise<boolean> {
    const { answer } = turn
    const { runId } = answer.value
    const { requests = [], continuedBy, status } = await client.runs.get(`${runId}`)
    // It was followed meanwhile: an answer and a live event may both trigger this check.
    if (answer.value.runId !== runId) return true
    if (continuedBy !== undefined) void goOnIn(turn, continuedBy, client.runs.stream(continuedBy))
    else if (requests.length > 0) answer.value = { ...answer.value, requests, status: 'input_required' }
    else answer.value = { ...answer.value, requests, status: status === 'queued' ? 'running' : status }
    return continuedBy !== undefined
  }

  /** Creates a session, if the service supports sessions. */
  async #begin(): Promise<void> {
    if (this.sessionId.value !== undefined || !hasSessions()) return
    const { kind, name } = this
    const { id } = await client.sessions.create({ kind, name })
    const isShown = chatAt() === this
    chats.delete(keyOf(kind, name, undefined))
    this.sessionId.value = id
    chats.set(keyOf(kind, name, id), this)
    if (isShown) location.replace(linkTo('chat', [kind, name], { session: id }))
  }

  /** Follows the last turn of a session if it is running, and loads its waiting requests. */
  async #goOn(turn: Turn): Promise<void> {
    const { answer } = turn
    const { status, runId = '' } = answer.value
    if (status === 'running') {
      answer.value = { ...NEW_ANSWER, runId, next: answer.value.next }
      void follow(turn, client.runs.stream(runId))
    }
    if (status === 'input_required') {
      const { requests = [] } = await client.runs.get(runId)
      answer.value = waitingFor(answer.value, requests)
    }
  }
}

/** The answer to a message that was sent while a run is running. `next`: its own run, if the message may reach the other. */
interface StartedMore {
  readonly id: string
  readonly next?: string
}

const callerOf = () => ({ keys: providerKeys.value, userId: userId.value || undefined })

/** Waits until signals say so. */
async function until(isSo: () => boolean): Promise<void> {
  let stop = () => {}
  await new Promise<void>(resolve => {
    stop = effect(() => {
      if (isSo()) resolve()
    })
  })
  stop()
}

/** A message that is being written. */
export interface Draft {
  readonly text: string
  readonly files: readonly { readonly part: FilePart; readonly name: string }[]
}

export const NO_DRAFT: Draft = { text: '', files: [] }

/** Takes a connection for an answer. Throws if the browser has none left. */
async function takeConnection(): Promise<() => void> {
  const free = await takePlace('chat')
  if (free) return free
  throw new Error(
    'The browser has no connection left, since other answers are being written. Wait for one of them, or stop it. Then send this again.',
  )
}

/** Cancels a waiting run. */
async function giveUp({ answer }: Turn): Promise<void> {
  const { runId, requests } = answer.value
  if (runId === undefined || requests.length === 0) return
  await client.runs.cancel(runId).catch(error => {
    if (codeOf(error) !== 'run_ended') throw error
  })
}

const chats = new Map<string, Chat>()

const keyOf = (kind: Kind, name: string, sessionId = '') => JSON.stringify([kind, name, sessionId])

/** The chat with an agent, a team or a workflow, in a session or without one yet. */
export function chatOf(kind: Kind, name: string, sessionId: string | undefined): Chat {
  const key = keyOf(kind, name, sessionId)
  const chat = chats.get(key) ?? new Chat(kind, name, sessionId)
  chats.set(key, chat)
  return chat
}

/** Forgets the chat of a session that was deleted. */
export function forgetChat(kind: Kind, name: string, sessionId: string): void {
  chats.delete(keyOf(kind, name, sessionId))
}

/** Begins a new chat. */
export function newChat(kind: Kind, name: string): void {
  chats.delete(keyOf(kind, name))
  const before = location.hash
  goTo('chat', [kind, name])
  // Setting the same address fires no event.
  if (location.hash === before) dispatchEvent(new HashChangeEvent('hashchange'))
}

function chatAt(): Chat | undefined {
  const [kind, name = ''] = route.value.path
  return chats.get(keyOf(kind as Kind, name, route.value.query.get('session') ?? undefined))
}

export const hasSessions = (): boolean => config.value.plugins.includes('sessions')

/** 128 random bits; `crypto.randomUUID` is not available on pages without HTTPS. */
const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), each => each.toString(36)).join('')
