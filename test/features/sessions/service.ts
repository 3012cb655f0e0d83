/** A service with all that keeps something of an owner, over a store that can be read whole. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import type { LocalState } from '../../../src/core/local-state.ts'
import { files } from '../../../src/features/files/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  memoryState,
  sequence,
  Team,
  textOf,
} from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { bound } from '../../../src/stores/bound.ts'
import type { Reader, Store, Transaction } from '../../../src/stores/store.ts'
import { identify } from '../../contracts/identify.ts'

/** A store that remembers which collections and logs were written. */
export function watched(store: Store): { store: Store; all: () => string } {
  const collections = new Set<string>()
  const logs = new Set<string>()
  const noting = (tx: Transaction): Transaction => ({
    ...bound(tx),
    put(collection, document, footing) {
      collections.add(collection)
      tx.put(collection, document, footing)
    },
    append(log, data, seal) {
      logs.add(log)
      return tx.append(log, data, seal)
    },
  })
  const read = (tx: Reader) =>
    JSON.stringify([
      ...[...collections].map(name => [name, tx.oldest(name, 1_000_000)]),
      ...[...logs].flatMap(name => (tx.length(name) > 0 ? [[name, tx.read(name, 0, 1_000_000)]] : [])),
    ])
  return {
    store: {
      ...store,
      isAlive: other => store.isAlive(other),
      read: (work, patienceMs) => store.read(work, patienceMs),
      write: (work, patienceMs) => store.write(tx => work(noting(tx)), patienceMs),
      close: () => store.close(),
      ...(store.hold && { hold: (thing: string) => store.hold?.(thing) ?? (() => {}) }),
    } as Store,
    all: () => store.read(read) as string,
  }
}

/** A state, and everything in it as text. */
export interface Kept {
  readonly state: LocalState
  readonly all: () => string
}

export function inMemory(): Kept {
  const state = memoryState({ maxRuns: 100_000 })
  const { store, all } = watched(state.store)
  return { state: { ...state, store }, all }
}

/** In a file, of which every row is read. */
export function inSqlite(): Kept {
  const folder = mkdtempSync(join(tmpdir(), 'servable-forgetting-'))
  const path = join(folder, 'state.db')
  const state = sqliteState({ path })
  onTestFinished(() => {
    state.store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    state,
    all() {
      const database = new DatabaseSync(path, { readOnly: true })
      try {
        const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
        const rows = tables.map(({ name }) => database.prepare(`SELECT * FROM "${String(name)}"`).all())
        return JSON.stringify(rows)
      } finally {
        database.close()
      }
    },
  }
}

/** Waits where it is told to, and says how much it knows of before. */
function talking(gates: Map<string, Promise<void>>): Agent {
  return new Agent({
    name: 'talks',
    register: false,
    corrections: true,
    async *run(input, { memory, signal }) {
      const text = textOf(input)
      yield `you said ${text}`
      const [, gate = ''] = /^waits (\S+)/.exec(text) ?? []
      const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
      await Promise.race([gates.get(gate), stopped])
      yield ` (${(await memory?.session()?.read())?.length ?? 'nothing'})`
    },
  })
}

const asks = new Agent({
  name: 'asks',
  register: false,
  async *run(input, { ask }) {
    const size = yield* ask('size', { message: `Which size of ${textOf(input)}?` })
    return `${textOf(input)} in ${String(size)}`
  },
})

/** Makes a file of what it is told. */
const draws = new Agent({
  name: 'draws',
  register: false,
  async *run(input) {
    const data = btoa(textOf(input).padEnd(6000, '.'))
    yield { type: 'artifact', artifactId: 'a', parts: [{ type: 'file', data, mimeType: 'text/plain' }] }
  },
})

/** Remembers what it is told, as a member. */
function noting(name: string): Agent {
  const agent: Agent = new Agent({
    name,
    register: false,
    async run(input, { memory }) {
      await memory?.session(agent)?.append([textOf(input)])
      return `noted ${textOf(input)}`
    },
  })
  return agent
}

const served = noting('served')

export interface Service {
  readonly ask: (
    method: string,
    path: string,
    options?: { user?: string | undefined; body?: unknown; headers?: Record<string, string> },
  ) => Promise<{ status: number; headers: Headers; text: string; json: () => ReturnType<typeof JSON.parse> }>
  readonly say: (
    input: unknown,
    sessionId: string,
    options?: { user?: string | undefined; of?: string; headers?: Record<string, string> },
  ) => Promise<string>
  /** Sends a message over A2A, and gives the task. */
  readonly send: (text: string, contextId: string, agent: string, user: string) => Promise<{ id: string }>
  readonly gate: (name: string) => () => void
  readonly all: () => string
  readonly log: readonly LogEntry[]
}

/** The service. */
export function service({ state, all }: Kept = inMemory(), options: HandlerOptions = {}): Service {
  const log: LogEntry[] = []
  const gates = new Map<string, Promise<void>>()
  const team = (name: string, member: Agent) =>
    new Team({ name, members: [member], strategy: sequence, register: false })
  const handler = createHandler({
    agents: { talks: talking(gates), asks, draws, served },
    teams: { outer: team('outer', served), inner: team('inner', noting('unserved')) },
    state,
    a2a: true,
    gateway: { recovery: true },
    runs: { store: 'asked' },
    middleware: [identify],
    plugins: [sessions(), files()],
    logger: entry => void log.push(entry),
    ...options,
  })
  const ask: Service['ask'] = async (method, path, { user, body, headers = {} } = {}) => {
    const response = await handler(
      new Request(`http://x${path}`, {
        method,
        headers: {
          ...(user !== undefined && { 'x-test-user': user }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  }
  return {
    ask,
    async say(input, sessionId, { user, of = 'agents/talks', headers = {} } = {}) {
      const answer = await ask('POST', `/api/${of}/run`, { user, body: { input, sessionId }, headers })
      if (answer.status > 202) throw new Error(answer.text)
      return answer.headers.get('x-run-id') ?? answer.json().id
    },
    async send(text, contextId, agent, user) {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', contextId, parts: [{ text }] }
      const {
        status,
        json,
        text: told,
      } = await ask('POST', `/agents/${agent}/message:send`, {
        user,
        body: { message },
        headers: { 'a2a-version': '1.0' },
      })
      if (status !== 200) throw new Error(told)
      return json().task
    },
    gate(name) {
      const { promise, resolve } = deferred<void>()
      gates.set(name, promise)
      return resolve
    },
    all,
    log,
  }
}
