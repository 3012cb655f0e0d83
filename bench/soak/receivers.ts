/** Receivers of push notifications: a quick one, and one that takes nearly as long as it may. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Milliseconds that the slow one takes; a receiver may take ten seconds. */
const SLOW_MS = 9500

/** What is told of a task, in the words of 0.3. */
export interface ToldTask {
  readonly status: { readonly state: string }
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[]
}

/** Where tasks may be told of. */
export interface Receivers {
  readonly slowUrl: string
  readonly quickUrl: string
  /** What came at a path of the quick one, once there is so much that `isAll` says so. */
  heard(path: string, isAll: (told: readonly ToldTask[]) => boolean): Promise<readonly ToldTask[]>
  /** What came at a path is forgotten. */
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
