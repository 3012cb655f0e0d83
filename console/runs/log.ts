/**
 * One run: its record and its events, as they arrive.
 *
 * @module
 */

import type { RunEvent } from '../../src/agents/contract.ts'
import type { RunRecord } from '../../src/client/index.ts'
import { client, codeOf } from '../service.ts'
import { AGAIN_MS, pause } from '../waiting.ts'
import { Bars } from './bars.ts'

/** Milliseconds between two updates while events arrive. */
const DRAW_MS = 50

/** The loaded data of a run. */
export class RunLog {
  readonly id: string
  readonly events: RunEvent[] = []
  readonly bars: Bars = new Bars()
  record: RunRecord | undefined
  error: unknown
  /** Whether the connection is lost, and will be retried. */
  isLost = false
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
    try {
      await this.#readRecord(signal)
      const isLive = this.record?.status === 'queued' || this.record?.status === 'running'
      while (!(await this.#readEvents(signal, isLive))) await pause(AGAIN_MS, signal)
      this.isWhole = true
      this.isLost = false
      if (isLive) await this.#readRecord(signal)
    } catch (error) {
      this.error = error
    }
    if (!signal.aborted) this.#draw()
  }

  async #readRecord(signal: AbortSignal): Promise<void> {
    this.record = await client.runs.get(this.id, { signal })
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
