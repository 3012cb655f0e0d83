/**
 * One run: its record and its events, as they come.
 *
 * @module
 */

import type { RunEvent } from '../../src/agents/contract.ts'
import type { RunRecord } from '../../src/client/index.ts'
import { client, codeOf } from '../service.ts'
import { AGAIN_MS, pause } from '../waiting.ts'
import { Bars } from './bars.ts'

/** Milliseconds between two drawings while events come. */
const DRAW_MS = 50

/** What is known of a run. */
export class RunLog {
  readonly id: string
  readonly events: RunEvent[] = []
  readonly bars: Bars = new Bars()
  record: RunRecord | undefined
  error: unknown
  /** The connection is lost, and the log tries again. */
  isLost = false
  /** All events are here. */
  isWhole = false
  readonly #show: () => void
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `show` is called after a change. */
  constructor(id: string, show: () => void) {
    this.id = id
    this.#show = show
  }

  /** Reads the record and all events, and goes on until the run has ended. */
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

  /** Whether all events have come. What the connection lost is asked for again. */
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
