/** Receivers of push notifications: a quick one, and one that takes nearly the allowed time. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Milliseconds of the slow receiver. The limit is ten seconds. */
const SLOW_MS = 9500

/** A notification about a task, in protocol version 0.3. */
export interface ToldTask {
  readonly status: { readonly state: string }
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[]
}

/** The addresses of the receivers. */
export interface Receivers {
  readonly slowUrl: string
  readonly quickUrl: string
  /** The notifications at a path of the quick receiver, as soon as `isAll` accepts them. */
  heard(path: string, isAll: (told: readonly ToldTask[]) => boolean): Promise<readonly ToldTask[]>
  /** Forgets the notifications at a path. */
  forget(path: string): void
  stop(): Promise<void>
}

export async function startReceivers(): Promise<Receivers> {
  const told = new Map<string, ToldTask[]>()
  const waiting = new Map<string, () => void>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (path.startsWith('/slow')) {
      setTimeout(() => response.writeHead(204).end(), SLOW_MS).unref()
      return
    }
    told.get(path)?.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(204).end()
    waiting.get(path)?.()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    slowUrl: `${url}/slow`,
    quickUrl: url,
    heard(path, isAll) {
      const heard: ToldTask[] = []
      told.set(path, heard)
      return new Promise(resolve => waiting.set(path, () => isAll(heard) && resolve(heard)))
    },
    forget(path) {
      told.delete(path)
      waiting.delete(path)
    },
    stop() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}
