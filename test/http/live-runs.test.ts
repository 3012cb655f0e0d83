import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLiveList, LOOK_EVERY_MS } from '../../src/http/runs/live-list.ts'
import { LiveRuns, type RunListEvent } from '../../src/http/runs/live-runs.ts'
import type { RunPage } from '../../src/runs/stored/host.ts'
import { encodeCursor } from '../../src/runs/stored/page.ts'
import type { RunStatus, RunSummary } from '../../src/runs/stored/record.ts'
import { toResponse } from '../../src/web/reply.ts'

afterEach(() => {
  vi.useRealTimers()
})

const LIMIT = 3

const runAt = (at: number, status: RunStatus): RunSummary => {
  const createdAt = new Date(at).toISOString()
  return { id: `run-${at}`, kind: 'agent', name: 'a', status, createdAt, updatedAt: createdAt }
}

/** The newest page of these runs. */
function pageOf(runs: ReadonlyMap<number, RunStatus>): RunPage {
  const all = [...runs].sort(([one], [other]) => other - one)
  const shown = all.slice(0, LIMIT).map(([at, status]) => runAt(at, status))
  const last = all[LIMIT - 1]
  const more = all.length > LIMIT && last !== undefined
  return { runs: shown, nextCursor: more ? encodeCursor({ at: last[0], id: `run-${last[0]}` }) : null }
}

const status = fc.constantFrom<RunStatus>('running', 'completed', 'failed')
const change = fc.record({ at: fc.integer({ min: 0, max: 9 }), to: fc.option(status, { nil: undefined }) })

/** What a client knows that applies each event. */
class Known {
  readonly runs = new Map<string, RunSummary>()

  apply(event: RunListEvent): void {
    if (event.type === 'all') for (const run of event.runs) this.runs.set(run.id, run)
    else if (event.type === 'removed') expect(this.runs.delete(event.id)).toBe(true)
    else this.runs.set(event.run.id, event.run)
  }
}

function make(runs: Map<number, RunStatus>, { at, to }: { at: number; to: RunStatus | undefined }): void {
  if (to === undefined) runs.delete(at)
  else runs.set(at, to)
}

describe('the changes of a list of runs', () => {
  it('give whoever applies them the newest page, whatever happens between two looks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 8 }), async rounds => {
        const runs = new Map<number, RunStatus>()
        const live = new LiveRuns(async () => pageOf(runs))
        const known = new Known()
        known.apply(await live.first())
        for (const changes of rounds) {
          for (const each of changes) make(runs, each)
          for (const event of await live.changes()) known.apply(event)
          for (const run of pageOf(runs).runs) expect(known.runs.get(run.id)).toEqual(run)
        }
      }),
    )
  })

  it('say nothing if nothing has changed', async () => {
    const runs = new Map<number, RunStatus>([[1, 'running']])
    const live = new LiveRuns(async () => pageOf(runs))
    await live.first()
    expect(await live.changes()).toEqual([])
    runs.set(1, 'failed')
    expect(await live.changes()).toMatchObject([{ type: 'changed', run: { status: 'failed' } }])
    runs.set(0, 'running')
    expect(await live.changes()).toMatchObject([{ type: 'added', run: { id: 'run-0' } }])
    runs.clear()
    expect(await live.changes()).toEqual([
      { type: 'removed', id: 'run-1' },
      { type: 'removed', id: 'run-0' },
    ])
  })
})

describe('a stream of a list', () => {
  it('looks at most every 2 s, and no more once its reader has left', async () => {
    vi.useFakeTimers()
    let looks = 0
    const list = { first: async () => 'all', changes: async () => [`look ${++looks}`] }
    const { body } = toResponse(createLiveList()(list, () => {}))
    const reader = body!.getReader()
    const next = async () => new TextDecoder().decode((await reader.read()).value)
    const first = next()
    await vi.advanceTimersByTimeAsync(0)
    expect(await first).toContain('data: "all"')
    const second = next()
    await vi.advanceTimersByTimeAsync(LOOK_EVERY_MS - 1)
    expect(looks).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(await second).toContain('data: "look 1"')
    const before = looks
    await reader.cancel()
    await vi.advanceTimersByTimeAsync(10 * LOOK_EVERY_MS)
    expect(looks).toBeLessThanOrEqual(before + 1)
  })

  it('is refused beyond a thousand, and is there again when one has left', async () => {
    const open = createLiveList()
    const list = { first: async () => 'all', changes: async () => [] }
    const readers = Array.from({ length: 1000 }, () => toResponse(open(list, () => {})).body!.getReader())
    for (const reader of readers) await reader.read()
    expect(() => open(list, () => {})).toThrow(expect.objectContaining({ code: 'too_many_followers' }))
    await readers[0]?.cancel()
    expect(() => open(list, () => {})).not.toThrow()
    for (const reader of readers) await reader.cancel()
  })

  it('ends and tells why if the list cannot be read', async () => {
    const told: unknown[] = []
    const broken = new Error('broken')
    const list = { first: () => Promise.reject(broken), changes: async () => [] }
    const text = await toResponse(createLiveList()(list, error => told.push(error))).text()
    expect(text).not.toContain('data:')
    expect(told).toEqual([broken])
  })
})
