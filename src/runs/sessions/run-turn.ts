/**
 * The turn of a run in its session: waits until the session is free, collects the output, and stores the turn.
 *
 * @module
 */

import { endMessageOf } from '../../agents/fold.ts'
import type {
  EndedTurn,
  Entered,
  LocalSessionRun,
  MemoryServable,
  OpenTurn,
  SessionKey,
  SessionNote,
  SessionStorage,
  TurnRun,
} from '../../agents/memory.ts'
import { withoutKeys } from '../../agents/redacted.ts'
import type { ErrorEvent, FinishEvent, RunEvent, RunInput } from '../../agents/run-types.ts'
import type { SteeredMessage, Turn, TurnEnd, TurnToolCall } from '../../agents/turn.ts'
import { isServableError } from '../../base/errors.ts'
import { createWake } from '../../base/wake.ts'
import type { FileStorage } from '../files.ts'
import { MAX_TEXT, toKeptInput } from './turn-messages.ts'

/** Milliseconds before the session is asked for again: at first, and at most. */
const ASK_MS = 50
const MAX_ASK_MS = 1000

/** The most tool calls of a turn, and the most characters of a name. */
const MAX_CALLS = 100
const MAX_NAME = 200

/** The most attempts to write the end of a turn, and the milliseconds before the second one. They double each time. */
const TRIES = 7
const RETRY_MS = 100

/** The turn of one run in its session. */
export class RunTurn implements OpenTurn, LocalSessionRun {
  readonly key: SessionKey
  readonly runId: string
  readonly messages: unknown[] = []
  readonly stop: () => void
  readonly #run: TurnRun
  readonly #files: FileStorage | undefined
  readonly #sessions: SessionStorage
  #turn: Turn
  readonly #output = new TurnOutput()
  readonly #wake = createWake()
  #provider: string | undefined
  #entering: Promise<void> | undefined
  /** Whether it is in line. */
  #isIn = false
  #hasBegun = false
  #into: string | undefined
  /** The ids of the messages that it has taken, and of those that its readers know of but the session does not. */
  readonly #taken = new Set<string>()
  #untold = new Set<string>()
  #others: Iterable<LocalSessionRun> = []
  #hasLeft = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    sessions: SessionStorage,
    key: SessionKey,
    { kind, name }: MemoryServable,
    run: TurnRun,
    files: FileStorage | undefined,
  ) {
    this.#sessions = sessions
    this.key = key
    this.runId = run.id
    this.stop = run.cancel
    this.#run = run
    this.#files = files
    const { id: runId, continuedFrom, options } = run
    this.#turn = {
      ...{ runId, kind, name, messageId: options.messageId, continuedFrom },
      input: this.#kept(run.input),
      status: 'running',
      at: Date.now(),
    }
  }

  /** Resolves once the turn is written, or the run has left. Rejects if the run cannot have the session. */
  enter(): Promise<void> {
    this.#entering = this.#enter().catch(error => {
      if (!isServableError(error) || error.code !== 'state_full') throw error
      // A full store evicts sessions first, so this one is gone at once.
      this.#sessions.failed(error)
    })
    return this.#entering
  }

  look(): void {
    this.#wake.fire()
  }

  get instead(): AsyncIterator<RunEvent> | undefined {
    if (this.#into === undefined) return undefined
    const value = { type: 'finish', finishReason: 'stop', steeredInto: this.#into } as const
    return { next: async () => ({ done: false, value }) }
  }

  /** Adds an event to the turn. */
  see(event: RunEvent): void {
    if (event.type === 'steered') this.#untold.add(event.runId)
    this.#output.add(event)
  }

  know(messages: readonly SteeredMessage[]): void {
    for (const { runId } of messages) {
      this.#taken.add(runId)
      this.#untold.add(runId)
      this.#output.told.add(runId)
    }
  }

  async take(): Promise<readonly SteeredMessage[]> {
    const sessions = this.#sessions
    if (sessions.steering === 'never' || this.#hasLeft) return []
    const ids = await sessions.steers(this.key, this.runId).catch(error => {
      // What waits starts the next turn.
      sessions.failed(error)
      return []
    })
    const isNew = ids.some(id => !this.#taken.has(id))
    if ((!isNew && this.#untold.size === 0) || this.#hasLeft) return []
    const told = [...this.#untold]
    const got = await sessions.take(this.key, this.runId, told)
    for (const id of told) this.#untold.delete(id)
    for (const other of this.#others) other.look()
    const news = got.filter(({ runId }) => !this.#taken.has(runId))
    for (const { runId } of news) this.#taken.add(runId)
    return news
  }

  append({ messages, provider }: SessionNote): void {
    this.messages.push(...messages)
    this.#provider = provider
  }

  /**
   * Ends the turn, once the last records of the run are stored: another worker may have the run by now, and the turn. Returns a promise
   * for the stored end, which never rejects; undefined if there is nothing to store.
   */
  leave(event: FinishEvent | ErrorEvent, recorded?: Promise<void>): Promise<void> | undefined {
    if (recorded !== undefined) return recorded.catch(() => {}).then(() => this.leave(event))
    this.#hasLeft = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#wake.fire()
    return this.#entering && this.#leave(this.#entering, event)
  }

  abandon(): void {
    this.#hasLeft = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#entering = undefined
    this.#wake.fire()
    this.#release()
  }

  #kept(input: RunInput): RunInput {
    return withoutKeys(toKeptInput(input), this.#run.options)
  }

  async #enter(): Promise<void> {
    if (this.#files !== undefined) await Promise.race([this.#storeFiles(this.#files), this.#wake.wait()])
    const { others, release } = this.#sessions.join(this.key, this)
    this.#release = release
    this.#others = others
    for (let pause = ASK_MS; !this.#hasLeft; pause = Math.min(2 * pause, MAX_ASK_MS)) {
      const { place, stops, isStopped, into } = await this.#ask()
      this.#isIn = true
      this.#into = into
      if (into !== undefined) return
      this.#hasBegun = place === 0
      for (const other of others) if (stops.includes(other.runId)) other.stop()
      if (isStopped) this.stop()
      if (this.#hasBegun || this.#hasLeft) break
      this.#run.onWait()
      await this.#pause(pause)
    }
    if (!this.#hasLeft) this.#beat()
  }

  async join(): Promise<number> {
    const { place } = await this.#ask()
    return place
  }

  #ask(): Promise<Entered> {
    this.#turn = { ...this.#turn, at: Date.now() }
    const { goesOn, options } = this.#run
    const { steers, userId, replaces, branchFrom, ifHead } = options
    return this.#sessions.enter(this.key, {
      ...this.#turn,
      ...{ goesOn, steers, userId, replaces, branchFrom, ifHead },
    })
  }

  #release = (): void => {}

  /** Stores the input's files. A file that cannot be stored is only named in the turn. */
  async #storeFiles(files: FileStorage): Promise<void> {
    const { input, options, isStored = false } = this.#run
    const owner = { runId: this.runId, owner: options.identity ?? null, isStored }
    try {
      const stored = await files.input(owner, input, this.key)
      this.#turn = { ...this.#turn, input: this.#kept(stored) }
    } catch (error) {
      this.#sessions.failed(error)
    }
  }

  async #pause(ms: number): Promise<void> {
    const timer = setTimeout(() => this.#wake.fire(), ms)
    await this.#wake.wait()
    clearTimeout(timer)
  }

  /** Renews the claim on the session while the run is at work. */
  #beat(): void {
    this.#timer = setTimeout(async () => {
      try {
        if (!(await this.#sessions.beat(this.key, this.runId))) this.stop()
      } catch {
        // The next beat may succeed.
      }
      if (!this.#hasLeft) this.#beat()
    }, this.#sessions.beatMs)
  }

  async #leave(entering: Promise<void>, event: FinishEvent | ErrorEvent): Promise<void> {
    await entering.catch(() => {})
    const keep = async () => {
      if (this.#isIn) await this.#keep(event)
      this.#release()
    }
    try {
      await keep()
    } catch (error) {
      this.#sessions.failed(error)
      void this.#keepLater(keep)
    }
  }

  async #keepLater(keep: () => Promise<void>): Promise<void> {
    for (let tries = 1; tries < TRIES; tries++) {
      await new Promise(resolve => setTimeout(resolve, RETRY_MS * 2 ** tries))
      try {
        return await keep()
      } catch {
        // The first failure was reported.
      }
    }
    this.#release()
  }

  async #keep(event: FinishEvent | ErrorEvent): Promise<void> {
    if (!this.#hasBegun) return this.#sessions.leave(this.key, this.#turn)
    const end: EndedTurn = { ...this.#turn, ...withoutKeys(this.#output.end(event), this.#run.options) }
    const note =
      this.messages.length === 0 ? undefined : { messages: this.messages, provider: this.#provider }
    await this.#sessions.leave(this.key, end, note)
  }
}

/** Collects the part of a run's output that its turn stores. */
export class TurnOutput {
  #text = ''
  readonly #calls: TurnToolCall[] = []
  /** The ids of the messages that reached the run. */
  readonly told: Set<string> = new Set()

  add(event: RunEvent): void {
    if (event.type === 'steered') this.told.add(event.runId)
    else if (event.type === 'text') {
      if (this.#text.length < MAX_TEXT) this.#text = (this.#text + event.text).slice(0, MAX_TEXT)
    } else if (event.type === 'resumed') {
      this.#text = ''
    } else if (event.type === 'message') {
      for (const part of event.parts) if (part.type === 'text') this.add(part)
    } else if (event.type === 'tool_call_start' && this.#calls.length < MAX_CALLS) {
      const { id, name } = event.toolCall
      this.#calls.push({ toolCallId: id.slice(0, MAX_NAME), toolName: name.slice(0, MAX_NAME) })
    }
  }

  /** Returns the end of the turn. */
  end(event: FinishEvent | ErrorEvent): TurnEnd & Pick<EndedTurn, 'told'> {
    const words = event.type === 'finish' ? endMessageOf(event) : undefined
    for (const part of words?.parts ?? []) {
      if (part.type === 'text') this.add({ ...part, text: (this.#text === '' ? '' : '\n\n') + part.text })
    }
    if (this.#text === '' && event.type === 'finish' && event.structured) {
      this.#text = JSON.stringify(event.structured).slice(0, MAX_TEXT)
    }
    return {
      ...(this.#text !== '' && { text: this.#text }),
      ...(this.#calls.length > 0 && { toolCalls: this.#calls }),
      ...(event.type === 'finish' ? { finishReason: event.finishReason } : { error: event.code }),
      ...(this.told.size > 0 && { told: [...this.told] }),
      status: this.#statusOf(event),
      endedAt: Date.now(),
    }
  }

  #statusOf(event: FinishEvent | ErrorEvent): Turn['status'] {
    if (event.type === 'finish') return event.finishReason === 'cancelled' ? 'cut' : 'completed'
    if (event.code === 'interrupted') return 'interrupted'
    return this.#text === '' ? 'failed' : 'cut'
  }
}
