import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message, Part, TaskArtifact } from '../../../src/protocols/a2a/model.ts'
import { BODIES, logOf, type TaskEntry, TaskGathering } from '../../../src/protocols/a2a/tasks/task-body.ts'
import { TaskViews } from '../../../src/protocols/a2a/tasks/task-views.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { NearStore, Transaction } from '../../../src/stores/store.ts'

const ids = { taskId: 't', contextId: 'c' }

function chunk(artifactId: string, parts: readonly Part[], append = true): TaskEntry {
  return { ...ids, type: 'artifact', artifact: { artifactId, parts }, append, lastChunk: false }
}

function said(text: string): TaskEntry {
  return { type: 'history', message: { messageId: text, role: 'agent', parts: [{ text }] } }
}

const status: TaskEntry = { ...ids, type: 'status', status: { state: 'working', timestamp: 'now' } }

function append(store: NearStore, entries: readonly TaskEntry[]): void {
  store.transact(tx => {
    for (const entry of entries) tx.append(logOf('t'), JSON.stringify(entry))
  })
}

/** What entries say, gathered anew in the simplest way. */
function plainBody(entries: readonly TaskEntry[]): { artifacts: TaskArtifact[]; history: Message[] } {
  const artifacts: TaskArtifact[] = []
  const history: Message[] = []
  for (const entry of entries) {
    if (entry.type === 'history') history.push(entry.message)
    if (entry.type !== 'artifact') continue
    const { artifact } = entry
    const at = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
    const before = artifacts[at]
    if (before === undefined) artifacts.push(artifact)
    else artifacts[at] = entry.append ? { ...before, parts: joined(before.parts, artifact.parts) } : artifact
  }
  return { artifacts, history }
}

function joined(before: readonly Part[], more: readonly Part[]): readonly Part[] {
  const parts = [...before]
  for (const part of more) {
    const last = parts.at(-1)
    const areTexts = [last, part].every(one => one && Object.keys(one).join() === 'text')
    if (areTexts) parts[parts.length - 1] = { text: `${last?.text}${part.text}` }
    else parts.push(part)
  }
  return parts
}

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ text: fc.string(), mediaType: fc.constant('text/plain') }),
  fc.record({ data: fc.integer() }),
)
const entry: fc.Arbitrary<TaskEntry> = fc.oneof(
  fc.constant(status),
  fc.string().map(said),
  fc
    .tuple(fc.constantFrom('a', 'b'), fc.array(part, { maxLength: 3 }), fc.boolean())
    .map(([id, parts, append]) => chunk(id, parts, append)),
)

describe('what was gathered of a task', () => {
  it('is what its log says, at each entry, whoever looked before', () => {
    const steps = fc.array(fc.tuple(fc.array(entry, { maxLength: 90 }), fc.nat(), fc.boolean()), {
      maxLength: 5,
    })
    fc.assert(
      fc.property(steps, steps => {
        const store = memoryStore()
        const views = new TaskViews()
        const all: TaskEntry[] = []
        for (const [entries, place, isSaved] of steps) {
          append(store, entries)
          all.push(...entries)
          const whole = store.transact(tx => views.read(tx, 't')).body()
          expect(whole).toMatchObject({ ...plainBody(all), seq: all.length })
          expect(store.transact(tx => views.readApart(tx, 't')).body()).toEqual(whole)
          expect(store.transact(tx => TaskGathering.of(tx, 't').readOn(tx, 't')).body()).toEqual(whole)
          const upTo = place % (all.length + 1)
          const then = store.transact(tx => views.readApart(tx, 't', { upTo, key: 'receiver' }))
          views.hold('receiver', then)
          expect(then.body()).toMatchObject({ ...plainBody(all.slice(0, upTo)), seq: upTo })
          const document = { id: 't', partition: '', at: 1, tags: {}, value: whole }
          if (isSaved) store.transact(tx => tx.put(BODIES, document))
        }
      }),
      { numRuns: 100 },
    )
  })

  it('is not changed by what is read later', () => {
    const store = memoryStore()
    const views = new TaskViews()
    append(store, [
      chunk('a', [{ data: 1 }], false),
      ...Array.from({ length: 99 }, () => chunk('a', [{ data: 2 }])),
    ])
    const before = store.transact(tx => views.read(tx, 't')).body()
    append(store, [chunk('a', [{ data: 3 }]), said('more')])
    store.transact(tx => views.read(tx, 't'))
    expect(before.artifacts[0]?.parts).toHaveLength(100)
    expect(before.history).toEqual([])
  })

  it('is read from the log once, however often it is asked for', () => {
    const store = memoryStore()
    const views = new TaskViews()
    append(store, [
      chunk('a', [{ text: 'x' }], false),
      ...Array.from({ length: 999 }, () => chunk('a', [{ text: 'x' }])),
    ])
    let read = 0
    const counted = (tx: Transaction): Transaction => {
      const reading: Transaction['read'] = (log, after, limit) => {
        const entries = tx.read(log, after, limit)
        read += entries.length
        return entries
      }
      const bound = { get: { value: tx.get.bind(tx) }, length: { value: tx.length.bind(tx) } }
      return Object.create(tx, { read: { value: reading }, ...bound }) as Transaction
    }
    const look = () => store.transact(tx => views.read(counted(tx), 't').body())
    for (let times = 0; times < 5; times++) look()
    expect(read).toBe(1000)
    append(store, [chunk('a', [{ text: 'y' }])])
    expect(look().artifacts).toEqual([{ artifactId: 'a', parts: [{ text: `${'x'.repeat(1000)}y` }] }])
    expect([read, views.entriesRead]).toEqual([1001, 1001])
    views.forget('t')
    look()
    expect(read).toBe(2002)
  })

  it('is held of some tasks only: those that were asked for lately', () => {
    const store = memoryStore()
    const views = new TaskViews()
    // 100 entries each that take 4 MiB together.
    const text = 'x'.repeat(21_000)
    const names = ['a', 'b', 'c', 'd', 'e']
    store.transact(tx => {
      for (const name of names)
        for (let i = 0; i < 100; i++) tx.append(logOf(name), JSON.stringify(chunk('a', [{ text }])))
    })
    const readOf = (name: string) => {
      const before = views.entriesRead
      store.transact(tx => views.read(tx, name))
      return views.entriesRead - before
    }
    expect(names.map(readOf)).toEqual([100, 100, 100, 100, 100])
    expect(readOf('e')).toBe(0)
    expect(readOf('a')).toBe(100)
  })

  it('is held of all others still, where one takes more than may be held in all', () => {
    const store = memoryStore()
    const views = new TaskViews()
    const write = (name: string, text: string) =>
      store.transact(tx => {
        for (let i = 0; i < 100; i++) tx.append(logOf(name), JSON.stringify(chunk('a', [{ text }])))
      })
    const readOf = (name: string) => {
      const before = views.entriesRead
      store.transact(tx => views.read(tx, name))
      return views.entriesRead - before
    }
    write('small', 'x')
    // 20 MB.
    write('large', 'x'.repeat(100_000))
    expect(['small', 'large', 'large', 'small'].map(readOf)).toEqual([100, 100, 100, 0])
    // One that was held grows too large.
    write('small', 'x'.repeat(100_000))
    write('other', 'x')
    expect(['other', 'small', 'small', 'other'].map(readOf)).toEqual([100, 100, 200, 0])
  })
})
