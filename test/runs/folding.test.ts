/** A log that is folded tells the same as before, from every position. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/agents/contract.ts'
import { Fold } from '../../src/agents/fold.ts'
import { eventToJson } from '../../src/runs/event-json.ts'
import { FOLDED, foldable, foldRun, markForFold } from '../../src/runs/stored/folding.ts'
import { LogReading } from '../../src/runs/stored/log-reading.ts'
import { lengthsIn, lengthsToText } from '../../src/runs/stored/piece-lengths.ts'
import { RESULTS, RUNS, type StoredRun } from '../../src/runs/stored/record.ts'
import { forgetRun } from '../../src/runs/stored/retention.ts'
import { recordIn } from '../../src/runs/waiting/waiting.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite/store.ts'
import type { Reader, Store, StoredLogEntry } from '../../src/stores/store.ts'
import { lateBase } from '../contracts/store/late.ts'

const text = fc.string({ unit: 'binary', maxLength: 70 })
const pieces = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text, at: fc.nat() }, { requiredKeys: ['type', 'text'] }),
  fc.record({ type: fc.constant('text' as const), text, agent: fc.constantFrom('a', 'b') }),
  fc.record({ type: fc.constant('thinking' as const), text }),
  fc.record({
    type: fc.constant('step' as const),
    name: fc.constant('s'),
    status: fc.constant('progress' as const),
    text,
  }),
  fc.record({
    type: fc.constant('tool_call_delta' as const),
    toolCallId: fc.constant('c'),
    argumentsDelta: text,
  }),
)
const others = fc.constantFrom<RunEvent>(
  { type: 'resumed' },
  { type: 'tool_call_start', toolCall: { id: 'c', name: 'find' } },
  { type: 'tool_call_end', toolCallId: 'c', result: { found: [1, null] } },
  { type: 'step', name: 's', status: 'completed', durationMs: 3 },
  { type: 'model_call', model: 'a/b' },
)
/** Pieces of one kind often follow each other. */
const runs = fc.oneof(
  others.map(event => [event]),
  pieces.chain(({ ...first }) =>
    fc.array(text, { maxLength: 12 }).map(texts =>
      texts.map((each): RunEvent => {
        const member = first.type === 'tool_call_delta' ? 'argumentsDelta' : 'text'
        return { ...first, [member]: each } as RunEvent
      }),
    ),
  ),
)
const logs = fc
  .array(runs, { maxLength: 20 })
  .map(all => [...all.flat(), { type: 'finish', finishReason: 'stop' } as const])

const stores: readonly [string, () => Store][] = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(':memory:')],
  ['a store that answers late', () => lateBase().open()],
]

const ID = 'a-run-that-is-folded'

/** Logs that are to be folded, now or later. */
const marked = (tx: Reader) => tx.expired(FOLDED, Number.MAX_SAFE_INTEGER, 10)

/** Writes an ended run with its log and result. */
async function putRun(store: Store, events: readonly RunEvent[]): Promise<void> {
  const fold = new Fold()
  for (const event of events) fold.add(event)
  const result = fold.result({ runId: ID, durationMs: 7 })
  const record = { id: ID, kind: 'agent', name: 'a', status: 'completed', finishReason: 'stop' }
  const document = { id: ID, partition: '', at: 1, tags: {} }
  await store.write(tx => {
    for (const [index, event] of events.entries())
      tx.append(ID, eventToJson(event), index === events.length - 1)
    tx.put(RUNS, { ...document, value: { record, owner: null, instance: 'x', at: 1, keyId: null } })
    tx.put(RESULTS, { ...document, value: JSON.parse(JSON.stringify(result)) })
    markForFold(tx, ID, 1_000_000, 0)
  })
}

/** Reads the log after a position, in pages. */
async function read(store: Store, after: number, limit: number, inPieces = false): Promise<StoredLogEntry[]> {
  const reading = new LogReading(ID, inPieces)
  const entries: StoredLogEntry[] = []
  while (true) {
    const part = await store.read(tx => reading.read(tx, entries.at(-1)?.seq ?? after, limit))
    entries.push(...part.entries)
    expect(part.entries.length).toBeLessThanOrEqual(limit)
    if (part.isLast) return entries
    expect(part.entries.length).toBeGreaterThan(0)
  }
}

const untimed = ({ seq, data }: StoredLogEntry) => ({ seq, event: { ...JSON.parse(data), at: 0 } })

/** What entries say: what is not a piece with its number, and the text of pieces that are of one kind, with the number of the last. */
function told(entries: readonly StoredLogEntry[]): unknown[] {
  const all: { key: string; text: string; seq: number }[] = []
  for (const { seq, data } of entries) {
    const { at: _, until: __, ...event } = JSON.parse(data)
    const { text = event.argumentsDelta ?? '', argumentsDelta: ___, ...rest } = event
    const key = JSON.stringify(rest)
    const last = all.at(-1)
    const isPiece = 'text' in event || 'argumentsDelta' in event
    if (isPiece && last?.key === key) {
      last.text += text
      last.seq = seq
    } else all.push({ key, text, seq })
  }
  return all
}

describe.each(stores)('a folded log in %s', (name, open) => {
  it('tells the same after each of its events, and its run has the same result', async () => {
    const numRuns = name === 'memory' ? 200 : 15
    await fc.assert(
      fc.asyncProperty(logs, fc.integer({ min: 1, max: 70 }), async (events, limit) => {
        const store = open()
        await putRun(store, events)
        const before = await read(store, 0, 64)
        const recordBefore = await store.read(tx => recordIn(tx, tx.get(RUNS, ID)?.value as never))
        expect(await store.read(tx => foldable(tx, 10))).toEqual([ID])
        // Twice is once: another process may have done it.
        for (let times = 0; times < 2; times++) await store.write(tx => foldRun(tx, ID))
        expect(await store.read(marked)).toEqual([])
        for (let after = 0; after <= events.length; after++) {
          const entries = await read(store, after, limit)
          expect(told(entries)).toEqual(told(before.slice(after)))
          expect(entries.at(-1)?.seq ?? events.length).toBe(events.length)
          const pieces = await read(store, after, limit, true)
          expect(pieces.map(untimed)).toEqual(before.slice(after).map(untimed))
        }
        expect(await read(store, Number.MAX_SAFE_INTEGER, limit)).toEqual([])
        expect(await store.read(tx => tx.get(RESULTS, ID))).toBeUndefined()
        const record = await store.read(tx => recordIn(tx, tx.get(RUNS, ID)?.value as never))
        expect(record).toEqual(recordBefore)
        await store.write(tx => forgetRun(tx, tx.get<StoredRun>(RUNS, ID)!.value))
        expect(await store.read(tx => [tx.get(FOLDED, ID), tx.length(ID)])).toEqual([undefined, 0])
        store.close()
      }),
      { numRuns },
    )
  })

  it('is read on by a reader that began before', async () => {
    const store = open()
    const words = Array.from({ length: 300 }, (_, index) => ({ type: 'text', text: `${index} ` }) as const)
    await putRun(store, [...words, { type: 'finish', finishReason: 'stop' }])
    const reading = new LogReading(ID, false)
    const first = await store.read(tx => reading.read(tx, 0, 64))
    expect(first.entries).toHaveLength(64)
    await store.write(tx => foldRun(tx, ID))
    const rest = await store.read(tx => reading.read(tx, 64, 64))
    const whole = [...first.entries, ...rest.entries].map(({ data }) => JSON.parse(data).text ?? '').join('')
    expect(whole).toBe(words.map(word => word.text).join(''))
    expect([rest.isLast, rest.entries.map(({ seq }) => seq)]).toEqual([true, [300, 301]])
    store.close()
  })

  it('is bounded in the length of its entries, and shows when pieces came', async () => {
    const store = open()
    const events = Array.from(
      { length: 400 },
      (_, at) => ({ type: 'text', text: 'x'.repeat(999), at }) as const,
    )
    await putRun(store, [...events, { type: 'finish', finishReason: 'stop' }])
    await store.write(tx => foldRun(tx, ID))
    const entries = await read(store, 0, 64)
    expect(entries).toHaveLength(51)
    expect(entries[1]).toEqual({ seq: 16, data: expect.stringMatching(/xx","at":8,"until":15}$/) })
    const pieces = await read(store, 9, 64, true)
    expect([pieces.length, pieces[0]]).toEqual([392, { seq: 10, data: expect.stringMatching(/x","at":8}$/) }])
    expect(pieces[6]).toEqual({ seq: 16, data: expect.stringMatching(/x","at":15}$/) })
    store.close()
  })

  it('stays as it is while its run is not ended, and is forgotten with it', async () => {
    const store = open()
    await store.write(tx => {
      tx.append(ID, '{"type":"text","text":"a"}')
      markForFold(tx, ID, 5000, 0)
      markForFold(tx, 'small', 4000, 0)
      markForFold(tx, 'never', 5000, undefined)
    })
    await store.write(tx => foldRun(tx, ID))
    expect(await store.read(tx => [tx.length(ID), tx.get(FOLDED, ID)])).toEqual([1, undefined])
    expect(await store.read(marked)).toEqual([])
    store.close()
  })
})

it('lengths are about a character each', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 70_000 })), lengths => {
      expect(lengthsIn(lengthsToText(lengths))).toEqual(lengths)
    }),
  )
  expect(lengthsToText(Array(100).fill(31))).toHaveLength(100)
})
