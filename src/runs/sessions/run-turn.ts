/**
 * The turn of a run in its session: waits until the session is free, gathers what is said, and has it kept.
 *
 * @module
 */

import type {
  Remembering,
  RunSitting,
  SessionKey,
  SessionNote,
  SessionStorage,
  Sitting,
  SittingRun,
} from '../../agents/memory.ts'
import { withoutKeys } from '../../agents/redacted.ts'
import type { ErrorEvent, FinishEvent, RunEvent, RunInput } from '../../agents/run-types.ts'
import type { Turn, TurnEnd, TurnToolCall } from '../../agents/turn.ts'
import { lastWordsOf } from '../../agents/work/last-words.ts'
import { isServableError } from '../../base/errors.ts'
import { createWake } from '../../base/wake.ts'
import type { FileStorage } from '../files.ts'
import { MAX_TEXT, toKeptInput } from './told-turn.ts'

/** Milliseconds after which a session is asked for again: first, and at most. */
const ASK_MS = 50
const MAX_ASK_MS = 1000

/** Calls of tools that a turn names, and characters of a name. */
const MAX_CALLS = 100
const MAX_NAME = 200

/** How often the end of a turn is written, and the milliseconds before the second time; then twice as many each time. */
const TRIES = 7
const RETRY_MS = 100

/** See the module's head. */
export class RunTurn implements RunSitting, Sitting {
  readonly key: SessionKey
  readonly runId: string
  readonly messages: unknown[] = []
  readonly stop: () => void
  readonly #run: SittingRun
  readonly #files: FileStorage | undefined
  readonly #sessions: SessionStorage
  #turn: Turn
  readonly #said = new Said()
  readonly #wake = createWake()
  #provider: string | undefined
  #entering: Promise<void> | undefined
  /** It is in line; it has had the session. */
  #isIn = false
  #hasBegun = false
  #hasLeft = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    sessions: SessionStorage,
    key: SessionKey,
    { kind, name }: Remembering,
    run: SittingRun,
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

  /** Resolves once the turn is written, or the run has left. Rejects where it cannot have the session. */
  enter(): Promise<void> {
    this.#entering = this.#enter().catch(error => {
      if (!isServableError(error) || error.code !== 'state_full') throw error
      // Sessions are what leaves a full store first: this one has left at once.
      this.#sessions.failed(error)
    })
    return this.#entering
  }

  look(): void {
    this.#wake.fire()
  }

  /** Takes in what is said. */
  see(event: RunEvent): void {
    this.#said.add(event)
  }

  append({ messages, provider }: SessionNote): void {
    this.messages.push(...messages)
    this.#provider = provider
  }

  /** The run has ended. Gives what is done once that is kept, which never rejects; undefined where there is nothing to keep. */
  leave(event: FinishEvent | ErrorEvent): Promise<void> | undefined {
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
    this.#letGo()
  }

  #kept(input: RunInput): RunInput {
    return withoutKeys(toKeptInput(input), this.#run.options)
  }

  async #enter(): Promise<void> {
    if (this.#files !== undefined) await Promise.race([this.#storeFiles(this.#files), this.#wake.wait()])
    const { others, letGo } = this.#sessions.seat(this.key, this)
    this.#letGo = letGo
    for (let pause = ASK_MS; !this.#hasLeft; pause = Math.min(2 * pause, MAX_ASK_MS)) {
      this.#turn = { ...this.#turn, at: Date.now() }
      const begun = { ...this.#turn, goesOn: this.#run.goesOn, replaces: this.#run.options.replaces }
      const { place, stops, isStopped } = await this.#sessions.enter(this.key, begun)
      this.#isIn = true
      this.#hasBegun = place === 0
      for (const other of others) if (stops.includes(other.runId)) other.stop()
      if (isStopped) this.stop()
      if (this.#hasBegun || this.#hasLeft) break
      this.#run.onWait()
      await this.#pause(pause)
    }
    if (!this.#hasLeft) this.#beat()
  }

  #letGo = (): void => {}

  /** Where a file cannot be stored, the turn names it. */
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

  /** Keeps the session while the run is at work. */
  #beat(): void {
    this.#timer = setTimeout(async () => {
      try {
        if (!(await this.#sessions.beat(this.key, this.runId))) this.stop()
      } catch {
        // The next one may be heard.
      }
      if (!this.#hasLeft) this.#beat()
    }, this.#sessions.beatMs)
  }

  async #leave(entering: Promise<void>, event: FinishEvent | ErrorEvent): Promise<void> {
    await entering.catch(() => {})
    const keep = async () => {
      if (this.#isIn) await this.#keep(event)
      this.#letGo()
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
        // It has been told.
      }
    }
    this.#letGo()
  }

  async #keep(event: FinishEvent | ErrorEvent): Promise<void> {
    if (!this.#hasBegun) return this.#sessions.leave(this.key, this.#turn)
    const end = { ...this.#turn, ...withoutKeys(this.#said.end(event), this.#run.options) }
    const note =
      this.messages.length === 0 ? undefined : { messages: this.messages, provider: this.#provider }
    await this.#sessions.leave(this.key, end, note)
  }
}

/** Gathers what a turn keeps of what is said. */
export class Said {
  #text = ''
  readonly #calls: TurnToolCall[] = []

  add(event: RunEvent): void {
    if (event.type === 'text') {
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

  /** The end of the turn. */
  end(event: FinishEvent | ErrorEvent): TurnEnd {
    const words = event.type === 'finish' ? lastWordsOf(event) : undefined
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
