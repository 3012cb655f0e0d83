/**
 * The cost of operations that grow with the stored data: filtered lists of many runs, an artifact in many chunks, a running
 * task with a long log. Run with `node bench/growth.ts`.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fold } from '../src/agents/fold.ts'
import { memoryState } from '../src/core/local-state.ts'
import { Agent } from '../src/index.ts'
import { createLocalTaskHost } from '../src/protocols/a2a/tasks/local-task-host.ts'
import type { RunQuery } from '../src/runs/stored/host.ts'
import { listRuns } from '../src/runs/stored/list.ts'
import { RUNS, toDocument } from '../src/runs/stored/record.ts'
import { sqliteState } from '../src/runtimes/sqlite.ts'
import type { Store } from '../src/stores/store.ts'
import { median } from './measure.ts'
import { SETTINGS } from './settings.ts'

const RUN_COUNT = 200_000
const CHUNKS = 32_000
const WORDS = 60_000
const ROUNDS = 11

const folder = mkdtempSync(join(tmpdir(), 'servable-bench-'))

/** Milliseconds of the median round, and of the slowest. */
async function timed(work: () => unknown): Promise<string> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return `${median(times).toFixed(2)} ms | ${Math.max(...times).toFixed(2)} ms`
}

const row = (what: string, figures: string) => console.log(`| ${what} | ${figures} |`)

async function fill(store: Store): Promise<void> {
  for (let from = 0; from < RUN_COUNT; from += 1000) {
    await store.write(tx => {
      for (let i = from; i < from + 1000; i++) {
        const at = 1_700_000_000_000 + i
        const createdAt = new Date(at).toISOString()
        const record = {
          id: crypto.randomUUID(),
          kind: i % 1000 === 0 ? ('team' as const) : ('agent' as const),
          name: `agent-${i % 10}`,
          status: i % 9 === 0 ? ('failed' as const) : ('completed' as const),
          createdAt,
          updatedAt: createdAt,
          sessionId: `session-${i % 5000}`,
        }
        tx.put(RUNS, toDocument({ record, owner: null, at, instance: '', keyId: null }))
      }
    })
  }
}

const queries: readonly Omit<RunQuery, 'limit'>[] = [
  {},
  { status: 'failed' },
  { status: 'running' },
  { kind: 'team' },
  { sessionId: 'session-7' },
  { sessionId: 'session-8', status: 'failed' },
  { name: 'agent-3', status: 'failed' },
  { kind: 'team', status: 'failed', name: 'agent-3' },
]

async function lists(name: string, store: Store): Promise<void> {
  await fill(store)
  for (const query of queries) {
    const list = () => store.read(tx => listRuns(tx, null, { ...query, limit: 50 }))
    row(`${name}: list ${JSON.stringify(query)}`, await timed(list))
  }
  store.close()
}

function chunks(): void {
  const startedAt = performance.now()
  const fold = new Fold()
  for (let n = 0; n < CHUNKS; n++) {
    const parts = [{ type: 'data', data: n } as const]
    fold.add({ type: 'artifact', artifactId: 'a', parts, append: n > 0 })
  }
  const ms = (performance.now() - startedAt).toFixed(0)
  row(`fold an artifact of ${CHUNKS.toLocaleString('en')} chunks, once`, `${ms} ms | `)
}

/** A task whose agent has said many words and stays silent. */
async function longTask(name: string, store: Store): Promise<void> {
  const spoken = Promise.withResolvers<void>()
  const rest = Promise.withResolvers<void>()
  const servable = new Agent({
    name: 'talker',
    register: false,
    async *run() {
      for (let n = 0; n < WORDS; n++) yield 'word '
      spoken.resolve()
      await rest.promise
    },
  })
  const target = { kind: 'agent', name: 'talker', servable } as const
  const bounds = { maxTasksPerOwner: 1000, maxHistory: 100, push: undefined, onGivenUp: () => {} }
  const host = createLocalTaskHost({
    store,
    settings: { ...SETTINGS, ...bounds },
    retention: {},
    targetOf: () => target,
  })
  const taskId = crypto.randomUUID()
  const message = { messageId: 'm', role: 'user', parts: [{ text: 'talk' }] } as const
  await host.deliver({ taskId, message, target, owner: null, options: {}, mayWait: false })
  await spoken.promise
  row(
    `${name}: get a task at work, ${WORDS.toLocaleString('en')} entries`,
    await timed(() => host.get(taskId, { owner: null })),
  )
  rest.resolve()
  await host.settled(taskId, { owner: null })
  store.close()
}

try {
  console.log('| what | median | slowest of 11 |\n|---|---|---|')
  const keepAll = { maxRuns: 1_000_000, maxAgeMs: 86_400_000, maxBytes: 4e9 }
  chunks()
  await longTask('memory', memoryState(keepAll).store)
  await longTask('SQLite', sqliteState({ path: join(folder, 'task.db') }).store)
  await lists('memory', memoryState(keepAll).store)
  await lists('SQLite', sqliteState({ path: join(folder, 'runs.db') }).store)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
