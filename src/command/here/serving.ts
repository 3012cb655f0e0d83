/**
 * What `servable dev`, `start` and `run` share: the variables of `.env`, the address, and a server whose failures say what to do.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { parseEnv } from 'node:util'
import { serveHere } from '../../runtimes/here.ts'
import type { Fetch, RunningServer, ServeOptions } from '../../runtimes/server.ts'
import { numberOf, type Options, textOf, UsageError } from '../service.ts'

/** The variable that makes the command a process of `servable dev` that serves. */
export const SERVES = 'SERVABLE_DEV_PROCESS'

const MAX_PORT = 65_535

/** Sets the variables of the file `.env` of a folder, if there is one. Those that are set already stay. */
export async function readEnv(cwd: string): Promise<void> {
  const text = await readFile(join(cwd, '.env'), 'utf8').catch(
    (error: { readonly code?: string } & Error) => {
      if (error.code === 'ENOENT') return ''
      throw new UsageError(`.env cannot be read: ${error.message}`)
    },
  )
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value
}

/** The address of `--host` and `--port`, or of `PORT`. Default: 127.0.0.1, port 3000. */
export function addressOf(options: Options): Required<ServeOptions> {
  return {
    hostname: textOf(options, 'host') ?? '127.0.0.1',
    port: numberOf(options, 'port', 0, MAX_PORT) ?? portOf(process.env.PORT) ?? 3000,
  }
}

/** The port of the variable `PORT`. An empty one is none. */
function portOf(text: string | undefined): number | undefined {
  if (!text) return undefined
  if (/^\d+$/.test(text) && Number(text) <= MAX_PORT) return Number(text)
  throw new UsageError(`The variable PORT must be a whole number from 0 to ${MAX_PORT}`)
}

/** Serves a handler. Throws {@link UsageError} for an address that cannot be used. */
export async function listenAt(handler: Fetch, address: Required<ServeOptions>): Promise<RunningServer> {
  try {
    return await serveHere(handler, address)
  } catch (error) {
    const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown }
    const fault = FAULTS.find(({ names }) => names.includes(String(code)) || names.includes(String(name)))
    if (fault === undefined) throw error
    throw new UsageError(fault.text(address), { cause: error })
  }
}

interface Fault {
  /** The codes of Node and Bun, and the name of Deno's error. */
  readonly names: readonly string[]
  readonly text: (address: Required<ServeOptions>) => string
}

const FAULTS: readonly Fault[] = [
  {
    names: ['EADDRINUSE', 'AddrInUse'],
    text: ({ port }) => `Port ${port} is taken. Stop what listens there, or choose another one with --port`,
  },
  {
    names: ['EACCES', 'PermissionDenied', 'NotCapable'],
    text: ({ port }) => `This user may not listen on port ${port}. Choose one from 1024 on with --port`,
  },
  {
    names: ['EADDRNOTAVAIL', 'AddrNotAvailable', 'ENOTFOUND'],
    text: ({ hostname }) => `This machine has no address ${hostname}. Choose another one with --host`,
  },
]
