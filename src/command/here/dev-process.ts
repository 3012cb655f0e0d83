/**
 * The process of `servable dev` that serves. It loads the agents, listens when the command says so, and ends its runs after a newer
 * process has taken its address.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { prettyLog } from '../../features/logs/pretty.ts'
import { createHandler } from '../../handler.ts'
import type { Log } from '../../http/log.ts'
import type { Fetch, RunningServer, ServeOptions } from '../../runtimes/server.ts'
import { failureOf } from '../service.ts'
import { optionsHere } from './options.ts'
import { listenAt, readEnv } from './serving.ts'

/** What the command tells its process. */
export type Told =
  | { readonly type: 'load'; readonly path: string | undefined; readonly address: Required<ServeOptions> }
  | { readonly type: 'listen'; readonly isFirst: boolean }
  | { readonly type: 'close' }

/** What the process tells the command. */
export type Heard =
  | { readonly type: 'loaded' }
  /** It listens. */
  | {
      readonly type: 'serves'
      /** With the prefix. */
      readonly url: string
      /** The path of the first agent: `agents/echo`. */
      readonly first: string
      /** The file that keeps the state. */
      readonly stateFile: string | undefined
      /** Variables for keys that the files read, and that are not set. */
      readonly missing: readonly string[]
    }
  /** It no longer listens. */
  | { readonly type: 'freed' }
  | { readonly type: 'failed'; readonly text: string; readonly isFinal: boolean }

/** Most files that are read for variables, and most variables that are named. */
const MAX_READ = 20
const MAX_NAMED = 5

/** Tries to listen, and milliseconds between them. */
const MAX_TRIES = 30
const RETRY_MS = 100

const NOBODY = { kind: 'agent', name: 'NAME' }

/** Serves as the command says, until it says `close` or has died. */
export function serveForDev(): void {
  const tell = (heard: Heard) => void process.send?.(heard)
  let server: RunningServer | undefined
  let work: Promise<{ listen(isFirst: boolean): Promise<void> }> | undefined

  async function load({ path, address }: Extract<Told, { type: 'load' }>) {
    const cwd = process.cwd()
    process.env.NODE_ENV ??= 'development'
    await readEnv(cwd)
    const here = await optionsHere({ path, cwd, production: false, console: true })
    const { options, agents, files, stateFile } = here
    let isFirst = true
    const pretty = prettyLog()
    // The start is logged once, not after each change. Who looks at what is no news on one's own machine.
    const log: Log = entry => {
      const isNews = isFirst || entry.event !== 'service.started'
      if (isNews && entry.channel !== 'audit') pretty(entry)
    }
    const handler = createHandler({ logger: log, ...options })
    const missing = await missingIn(files.map(file => join(cwd, file)))
    tell({ type: 'loaded' })
    return {
      async listen(first: boolean) {
        isFirst = first
        server = await (isFirst ? listenAt(handler, address) : listenSoon(handler, address))
        const [{ kind, name } = NOBODY] = [...agents, ...(options.serve ?? [])]
        tell({
          type: 'serves',
          url: server.url + (options.prefix ?? '/api'),
          first: `${kind}s/${name}`,
          stateFile,
          missing,
        })
      },
    }
  }

  const attempt = (isFinal: boolean, doing: Promise<unknown>) =>
    doing.catch(error => {
      tell({ type: 'failed', text: failureOf(error).text, isFinal })
    })

  process.on('message', (told: Told) => {
    if (told.type === 'load') {
      work = load(told)
      void attempt(false, work)
    } else if (told.type === 'listen') {
      void attempt(told.isFirst, Promise.resolve(work?.then(({ listen }) => listen(told.isFirst))))
    } else {
      // The server stops listening at once. Whoever sent this ends the process if its runs take too long.
      void server?.close({ graceMs: 2 ** 31 - 1 }).then(() => process.exit())
      setImmediate(() => tell({ type: 'freed' }))
      if (server === undefined) process.exit()
    }
  })
  // Ctrl-C reaches all processes of a terminal, and the command decides what it means.
  process.on('SIGINT', () => {})
  process.on('disconnect', () => process.exit())
}

/** Listens at an address that another process is about to leave. */
async function listenSoon(handler: Fetch, address: Required<ServeOptions>): Promise<RunningServer> {
  for (let tries = 1; tries < MAX_TRIES; tries++) {
    const server = await listenAt(handler, address).catch(() => undefined)
    if (server !== undefined) return server
    await setTimeout(RETRY_MS)
  }
  return listenAt(handler, address)
}

async function missingIn(files: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(
    files.slice(0, MAX_READ).map(file => readFile(file, 'utf8').catch(() => '')),
  )
  const names = texts.flatMap(text =>
    [...text.matchAll(/\benv(?:\.|\[['"])([A-Z][A-Z\d_]{0,60}_(?:KEY|TOKEN|SECRET))\b/g)].map(
      ([, name = '']) => name,
    ),
  )
  return [...new Set(names)].filter(name => !process.env[name]).slice(0, MAX_NAMED)
}
