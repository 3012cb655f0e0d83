/** Open streams: their memory, and whether the agent is stopped when its client leaves. */

import { connect, type Socket } from 'node:net'
import { HOLD, STOPPED } from './echo.ts'
import { Server } from './server.ts'
import { bytesOf, heldBytes, type Peer } from './who.ts'

/** Number of streams that are open at the same time. */
export const OPEN = 1000
/** Milliseconds in which the agent must be stopped after its client left. */
const HEARD_MS = 3000

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Sends a request. With `mark`, it waits until that text has arrived. */
function ask(url: string, request: string, mark?: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname, () => {
    socket.write(request)
    if (mark === undefined) resolve(socket)
  })
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
    if (mark !== undefined && text.includes(mark)) resolve(socket)
  })
  socket.on('error', reject)
  return promise
}

/** The memory of many open streams. */
export interface Held {
  readonly before: number
  readonly perStream: number
}

/** Resident kilobytes of a server after some load, and the growth for each open stream. */
export async function memoryOf(peer: Peer): Promise<Held> {
  const server = await Server.open(peer)
  const sockets: Socket[] = []
  try {
    await server.runs(1000)
    await server.streams(1000)
    const before = await server.resident()
    const request = heldBytes(server.url, peer)
    while (sockets.length < OPEN) {
      const some = Array.from({ length: 50 }, () => ask(server.url, request, peer.mark))
      sockets.push(...(await Promise.all(some)))
    }
    return { before, perStream: ((await server.resident()) - before) / OPEN }
  } finally {
    for (const socket of sockets) socket.destroy()
    await server.stop()
  }
}

/** Whether the agent's signal fires when a client leaves: a stream after its first piece, and a run. */
export async function hearsLeaving(peer: Peer): Promise<{ stream: boolean; run: boolean }> {
  const server = await Server.open(peer)
  const heard = async (leave: () => Promise<void>): Promise<boolean> => {
    const before = server.log().split(STOPPED).length
    await leave()
    for (let waited = 0; waited < HEARD_MS; waited += 20) {
      if (server.log().split(STOPPED).length > before) return true
      await sleep(20)
    }
    return false
  }
  try {
    await server.runs(100)
    return {
      stream: await heard(
        async () => void (await ask(server.url, heldBytes(server.url, peer), peer.mark)).destroy(),
      ),
      run: await heard(async () => {
        const socket = await ask(server.url, bytesOf(server.url, peer.run, HOLD))
        await sleep(500)
        socket.destroy()
      }),
    }
  } finally {
    await server.stop()
  }
}
