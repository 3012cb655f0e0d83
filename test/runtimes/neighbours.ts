/** Several processes that share one SQLite file, and one that holds the write lock. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Message, messagesOf } from '../contracts/http/client.ts'
import { newFolder, onDisk } from '../contracts/run-host/folder.ts'
import { type Deployment, type Fields, list, type Server, streamRequest } from '../contracts/runs/client.ts'
import { type Runtime, startBun, startDeno, startNode } from './harness.ts'

/** Starts a process on the database of a folder. */
type Start = (folder: string) => Promise<Runtime>

const ENTRY = 'test/runtimes/entries/neighbours-server.ts'
const env = (folder: string) => ({ DATABASE: databaseIn(folder) })

const databaseIn = (folder: string): string => join(folder, 'runs.db')

export const RUNTIMES: readonly (readonly [name: string, start: Start])[] = [
  ['Node', folder => startNode(ENTRY, { env: env(folder) })],
  ['Bun', folder => startBun(ENTRY, { env: env(folder) })],
  [
    'Deno',
    folder =>
      startDeno(ENTRY, {
        env: env(folder),
        names: ['CLOSES'],
        allow: [`--allow-read=${folder}`, `--allow-write=${folder}`],
      }),
  ],
]

/** One of the processes. */
export interface Neighbour {
  readonly server: Server
  /** Runs `kill -9`. */
  kill(): Promise<void>
  /** Sends it a signal. */
  signal(signal: NodeJS.Signals): void
}

/** Processes of a runtime on one file. The end of the test stops the processes and deletes the file. */
export async function street([, start]: (typeof RUNTIMES)[number] = RUNTIMES[0]!) {
  const folder = await newFolder(onDisk())
  onTestFinished(folder.remove)
  const moveIn = async (): Promise<Neighbour> => {
    const runtime = await start(folder.path)
    onTestFinished(() => runtime.stop())
    const deployment: Deployment = { ...runtime, folder: folder.path }
    const pid = Number(/pid (\d+)/.exec(runtime.log())?.[1])
    return {
      server: () => deployment,
      kill: runtime.kill,
      signal: signal => void process.kill(pid, signal),
    }
  }
  return { moveIn, database: databaseIn(folder.path) }
}

const HOLD = `
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(process.argv[1])
  database.exec('PRAGMA busy_timeout = 20000')
  database.exec('BEGIN IMMEDIATE')
  process.stdout.write('held')
  process.stdin.resume().on('end', () => {
    database.exec('ROLLBACK')
    database.close()
  })
`

/** Takes the write lock of a database in a separate process. Returns a function that releases it. */
export async function holdWriteLock(database: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['-e', HOLD, database], { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = new Promise<void>(resolve => child.once('close', () => resolve()))
  const letGo = async () => {
    child.stdin.end()
    await gone
  }
  onTestFinished(letGo)
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('close', code => reject(new Error(`the write lock is not held: exited with ${code}`)))
  })
  return letGo
}

/** A run with a follower. */
export interface Following {
  readonly id: string
  /** All messages, after the run has ended. */
  readonly all: Promise<Message[]>
}

/** Follows a run. Resolves after the first message. */
export async function following(server: Server, id: string, headers: Fields): Promise<Following> {
  const response = await streamRequest(server, id, headers)
  expect(response.status).toBe(200)
  const messages = messagesOf(response)
  const first = await messages.next()
  const rest = async () => {
    const all = first.value === undefined ? [] : [first.value]
    for await (const message of messages) all.push(message)
    return all
  }
  const all = rest()
  // A test may end the server without using the result.
  all.catch(() => {})
  return { id, all }
}

/** Checks that a run's events came to the end, each once, and that it was interrupted. */
export async function expectInterrupted({ all }: Following): Promise<void> {
  const messages = await all
  expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
  const ends = messages.filter(({ event }) => event.type === 'error' || event.type === 'finish')
  expect(ends).toEqual([messages.at(-1)])
  expect(messages.at(-1)?.event).toMatchObject({ type: 'error', code: 'interrupted' })
}

/** The ids of an owner's runs with this status. */
export async function idsOf(server: Server, status: string, headers: Fields): Promise<Set<string>> {
  const { runs } = await list(server, `?limit=100&status=${status}`, headers)
  return new Set(runs.map(({ id }) => id))
}
