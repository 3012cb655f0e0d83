/** A handler in this process whose agent says what a test has it say. */

import { coreOf } from '../../../src/core/handler.ts'
import { localState } from '../../../src/core/local-state.ts'
import { type FileStore, type FilesOptions, files } from '../../../src/features/files/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  type RunInput,
  type RunRecord,
  type Yielded,
} from '../../../src/index.ts'
import { RUNS, type StoredRun } from '../../../src/runs/stored/record.ts'
import { forgetRun } from '../../../src/runs/stored/retention.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { NearStore } from '../../../src/stores/store.ts'
import { toBase64 } from '../../../src/web/base64.ts'
import { bytesOf } from '../../contracts/files/bytes.ts'

/** A part of a file of so many bytes. */
export const filePart = (size: number, seed = 0) =>
  ({ type: 'file', data: toBase64(bytesOf({ size, seed })), mimeType: 'a/b' }) as const

/** An artifact of one such part. */
export const artifact = (artifactId: string, size: number, seed = 0): Yielded => ({
  type: 'artifact',
  artifactId,
  parts: [filePart(size, seed)],
})

/** A store of one's own in memory. */
export function ownStore(): FileStore & { readonly names: () => string[] } {
  const stored = new Map<string, Uint8Array<ArrayBuffer>>()
  return {
    names: () => [...stored.keys()],
    put: (name, bytes) => void stored.set(name, bytes),
    get: name => stored.get(name),
    delete: name => stored.delete(name),
    has: name => stored.has(name),
  }
}

/** A service, and the store under it. */
export function service(
  says: (input: RunInput) => AsyncIterable<Yielded> | Iterable<Yielded>,
  own: FilesOptions = {},
  options: HandlerOptions = {},
  store: NearStore = memoryStore(),
) {
  const logged: LogEntry[] = []
  const agent = new Agent({
    name: 'says',
    register: false,
    async *run(input) {
      yield* says(input)
    },
  })
  const handler = createHandler({
    serve: [agent],
    registry: false,
    production: false,
    state: localState({ store, retention: {}, isVolatile: true }),
    logger: entry => void logged.push(entry),
    ...options,
    runs: { store: 'asked', ...options.runs },
    plugins: [files(own)],
  })
  const { files: kept, memory } = coreOf(handler)!.runs
  const ask = (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1${path}`, init))
  const json = async (path: string, init?: RequestInit) => (await ask(path, init)).json()
  /** Starts a run that nobody waits for. */
  const start = async (): Promise<string> => {
    const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
    const body = JSON.stringify({ input: 'x' })
    const { id } = await json('/api/agents/says/run', { method: 'POST', headers, body })
    return id
  }
  /** The record of a run that has ended. */
  const ended = async (id: string): Promise<RunRecord> => {
    await (await ask(`/api/runs/${id}/stream`)).text()
    return json(`/api/runs/${id}`)
  }
  /** Sends an input to a plain run of a session, or to a stored one. Gives its id, and the code of what it failed with. */
  const send = async (
    input: RunInput,
    more: { readonly sessionId?: string; readonly background?: boolean } = {},
  ) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ input, sessionId: 's', ...more })
    const response = await ask('/api/agents/says/run', { method: 'POST', headers, body })
    return {
      id: response.headers.get('x-run-id') ?? '',
      code: (await response.json()).code as string | undefined,
    }
  }
  /** Deletes a run, as a sweep does. */
  const forget = (id: string) => store.write(tx => forgetRun(tx, tx.get<StoredRun>(RUNS, id)!.value, kept))
  return {
    store,
    logged,
    files: kept!,
    turns: (sessionId = 's') => memory!.sessions!.turns({ owner: null, place: ['agent:says'], sessionId }),
    send,
    ask,
    json,
    start,
    ended,
    forget,
    run: async () => ended(await start()),
  }
}

/** The documents that tell of files, by collection. */
export function filesIn(store: NearStore): Record<string, number> {
  const names = ['file', 'file-reference', 'file-piece', 'file-owner', 'file-left-over']
  return store.read(tx => Object.fromEntries(names.map(name => [name, tx.count(name)])))
}

export const NOTHING = {
  file: 0,
  'file-reference': 0,
  'file-piece': 0,
  'file-owner': 0,
  'file-left-over': 0,
}
