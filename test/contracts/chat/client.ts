/** A client of the chat. */
import { WebSocket } from 'ws'
import type { InputRequest, RunEvent } from '../../../src/index.ts'

/** What the service says. */
export interface Said {
  readonly type: string
  readonly run?: string
  readonly at?: number
  readonly event?: RunEvent
  readonly code?: string
  readonly ref?: string
  readonly requests?: readonly InputRequest[]
  readonly issues?: readonly { readonly path: string }[]
}

/** A socket whose messages are read in their order. */
export interface Chatting {
  send(message: unknown): void
  /** The messages up to the first one that fits, which is the last. Rejects if the socket closes first. */
  until(fits: (said: Said) => boolean): Promise<readonly Said[]>
  /** The next message, as text. */
  next(): Promise<string>
  /** Resolves with the code. */
  readonly closed: Promise<number>
  close(): void
}

/** Opens a socket. Rejects with the status of a refusal. */
export async function chatting(
  url: string,
  path = '/api/chat',
  headers: Readonly<Record<string, string>> = {},
): Promise<Chatting> {
  const socket = new WebSocket(url.replace('http', 'ws') + path, { headers })
  const got: string[] = []
  const closed = Promise.withResolvers<number>()
  let isClosed = false
  let wake = Promise.withResolvers<void>()
  const changed = () => {
    wake.resolve()
    wake = Promise.withResolvers<void>()
  }
  socket.on('message', data => {
    got.push(String(data))
    changed()
  })
  socket.on('close', code => {
    isClosed = true
    closed.resolve(code)
    changed()
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
    socket.on('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
  })
  const next = async () => {
    while (got.length === 0) {
      if (isClosed) throw new Error(`closed with ${await closed.promise}`)
      await wake.promise
    }
    return got.shift() ?? ''
  }
  return {
    next,
    closed: closed.promise,
    close: () => socket.close(),
    send: message => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async until(fits) {
      const all: Said[] = []
      for (;;) {
        const said: Said = JSON.parse(await next())
        all.push(said)
        if (fits(said)) return all
      }
    },
  }
}

/** Whether a message is the end of a run. */
export const isEnd = ({ event }: Said): boolean => event?.type === 'finish' || event?.type === 'error'

/** The text of some messages. */
export const textIn = (said: readonly Said[]): string =>
  said.map(({ event }) => (event?.type === 'text' ? event.text : '')).join('')
