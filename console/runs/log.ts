/**
 * One run: its record and its events, as they arrive.
 *
 * @module
 */

import { useLayoutEffect, useReducer, useState } from 'preact/hooks'
import type { RunEvent } from '../../src/agents/contract.ts'
import type { RunInput, RunRecord } from '../../src/client/index.ts'
import { client, codeOf, isRefusal } from '../service.ts'
import { readWhileShown } from '../streams.ts'
import { AGAIN_MS, pause } from '../waiting.ts'
import { Bars } from './bars.ts'

/** The data of a run as it arrives. `turn` is another number when it is to be loaded again. */
export function useLog(id: string, turn = 0): { readonly log: RunLog | undefined; readonly version: number } {
  const [version, draw] = useReducer<number, void>(count => count + 1, 0)
  const [log, setLog] = useState<RunLog>()
  useLayoutEffect(() => {
    const controller = new AbortController()
    const next = new RunLog(id, draw)
    setLog(next)
    void next.follow(controller.signal)
    return () => controller.abort()
  }, [id, turn])
  return { log, version }
}

/** Milliseconds between two updates while events arrive. */
const DRAW_MS = 50

/** The loaded data of a run. */
export class RunLog {
  readonly id: string
  readonly events: RunEvent[] = []
  readonly bars: Bars = new Bars()
  record: RunRecord | undefined
  /** What was asked, if the service keeps it and the user may read it. */
  input: RunInput | undefined
  /** The text of the answer so far. */
  text = ''
  error: unknown
  /** Whether the connection is lost, and will be retried. */
  isLost = false
  /** Whether other windows have all connections, so that this one waits. */
  isWaiting = false
  /** Whether all events are loaded. */
  isWhole = false
  readonly #show: () => void
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `show` is called after a change. */
  constructor(id: string, show: () => void) {
    this.id = id
    this.#show = show
  }

  /** Loads the record and all events, and continues until the run has ended. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!(await this.#tryAll(signal)) && !signal.aborted) await pause(AGAIN_MS, signal)
    if (!signal.aborted) this.#draw()
  }

  /** Returns whether all is read, or cannot be. */
  async #tryAll(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#readRecord(signal)
      const isLive = this.record?.status === 'queued' || this.record?.status === 'running'
      while (!(await (isLive ? this.#readLive(signal) : this.#readEvents(signal, false))))
        await pause(AGAIN_MS, signal)
      this.isWhole = true
      this.isLost = false
      if (isLive) await this.#readRecord(signal)
    } catch (error) {
      if (signal.aborted) return true
      // What the service refuses stays refused. All else is tried again.
      if (isRefusal(error)) this.error = error
      else this.isLost = true
      this.#draw()
      return isRefusal(error)
    }
    return true
  }

  async #readRecord(signal: AbortSignal): Promise<void> {
    const { input, ...record } = await client.runs
      .get(this.id, { signal, include: 'input' })
      // A role may read a run without its input.
      .catch(error => (isRefusal(error) ? client.runs.get(this.id, { signal }) : Promise.reject(error)))
    this.record = record
    this.input = input ?? this.input
    this.#draw()
  }

  /** Reads while the page is visible and has a place for the stream. Returns whether all events have arrived. */
  async #readLive(signal: AbortSignal): Promise<boolean> {
    const onWait = (isWaiting: boolean) => this.#wait(isWaiting)
    return (await readWhileShown(signal, onWait, shown => this.#readEvents(shown, true))) ?? false
  }

  #wait(isWaiting: boolean): void {
    if (this.isWaiting === isWaiting) return
    this.isWaiting = isWaiting
    this.#draw()
  }

  /** Returns whether all events have arrived. Events lost with the connection are loaded again. */
  async #readEvents(signal: AbortSignal, isLive: boolean): Promise<boolean> {
    const { events, bars } = this
    const startedAt = Date.parse(this.record?.createdAt ?? '')
    try {
      for await (const event of client.runs.stream(this.id, { signal, after: events.length })) {
        this.isLost = false
        events.push(event)
        if (event.type === 'text' && event.parentId === undefined) this.text += event.text
        if (event.type === 'resumed') this.text = ''
        bars.add(event, isLive ? Math.max(0, Date.now() - startedAt) : undefined)
        this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS)
      }
      return true
    } catch (error) {
      if (signal.aborted || codeOf(error) !== 'stream_broken') throw error
      this.isLost = true
      this.#draw()
      return false
    }
  }

  #draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#show()
  }
}
