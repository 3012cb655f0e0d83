/** The measured servers, and their requests. */

import { INPUT } from './echo.ts'

/** A server with the echo agent. */
export interface Peer {
  readonly name: string
  /** The path below `bench/`. */
  readonly entry: string
  /** The requests of a run and of a stream. */
  readonly run: Ask
  readonly stream: Ask
  /** A text in the first piece of a stream. */
  readonly mark: string
  /** A text in every answer of a run. */
  readonly answer: string
  /** The request of a stream that its agent can hold open. */
  readonly held?: Ask
  /** Has only the one. */
  readonly only?: 'runs' | 'streams'
}

/** Makes a request from the agent's input. */
export interface Ask {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  body(input: string): object
}

const ours = (path: string): Ask => ({ path: `/api/agents/echo/${path}`, body: input => ({ input }) })
const answer = JSON.stringify({ text: INPUT }).slice(1, -1)
const asWe = { run: ours('run'), stream: ours('stream'), mark: '"type":"text"', answer, held: ours('stream') }
const asMastra = (path: string): Ask => ({
  path: `/api/agents/echo/${path}`,
  body: messages => ({ messages }),
})
const asVolt = (path: string): Ask => ({ path: `/agents/echo/${path}`, body: input => ({ input }) })
const server = (name: string) => `peers/servers/${name}.ts`
const framework = (name: string) => `peers/frameworks/${name}.ts`

export const SERVABLE: Peer = { name: 'servable', entry: server('servable'), ...asWe }
export const BARE: Peer = { name: 'bare `node:http`', entry: server('bare'), ...asWe }
export const BARE_FETCH: Peer = { name: 'bare fetch handler, srvx', entry: server('bare-fetch'), ...asWe }
export const EXPRESS: Peer = { name: 'express + socket.io by hand', entry: server('express'), ...asWe }
export const MASTRA: Peer = {
  name: 'Mastra',
  entry: framework('mastra'),
  run: asMastra('generate'),
  stream: asMastra('stream'),
  held: asMastra('stream'),
  mark: '"text-delta"',
  answer,
}
export const VOLTAGENT: Peer = {
  name: 'VoltAgent',
  entry: framework('voltagent'),
  run: asVolt('text'),
  stream: asVolt('stream'),
  held: asVolt('stream'),
  mark: '"text-delta"',
  answer,
}
export const OUR_MASTRA: Peer = {
  name: "servable, Mastra's agent",
  entry: framework('servable-mastra'),
  ...asWe,
}
export const OUR_VOLTAGENT: Peer = {
  name: "servable, VoltAgent's agent",
  entry: framework('servable-voltagent'),
  ...asWe,
}

const asGraph = (path: string, rest: object = {}): Ask => ({
  path,
  body: content => ({ assistant_id: 'echo', input: { messages: [{ role: 'user', content }] }, ...rest }),
})
const streamed = { stream_mode: 'messages-tuple', on_disconnect: 'cancel' }
export const LANGGRAPH: Peer = {
  name: 'LangGraph',
  entry: framework('langgraph'),
  run: asGraph('/runs/wait'),
  stream: asGraph('/runs/stream', streamed),
  // Only runs of a thread are stopped when their client leaves.
  held: {
    ...asGraph('', { ...streamed, if_not_exists: 'create' }),
    get path() {
      return `/threads/${crypto.randomUUID()}/runs/stream`
    },
  },
  mark: 'event: messages',
  answer: INPUT,
}
export const OUR_LANGGRAPH: Peer = {
  name: "servable, LangGraph's graph",
  entry: framework('servable-langgraph'),
  ...asWe,
}

const a2a = (method: string): Ask => ({
  path: '/',
  headers: { 'a2a-version': '1.0' },
  body: text => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { message: { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text }] } },
  }),
})
const asA2a = {
  run: a2a('SendMessage'),
  stream: a2a('SendStreamingMessage'),
  mark: '\ndata: ',
  // Its agents repeat every input and have no way to wait.
  answer: 'TASK_STATE_COMPLETED',
}
export const OUR_A2A: Peer = { name: 'servable, A2A 1.0', entry: 'servers/node-a2a-servable.ts', ...asA2a }
export const A2A_SDK: Peer = { name: '`@a2a-js/sdk`, A2A 1.0', entry: 'servers/node-a2a-sdk.ts', ...asA2a }

export const PEERS: readonly Peer[] = [
  SERVABLE,
  BARE,
  BARE_FETCH,
  EXPRESS,
  MASTRA,
  OUR_MASTRA,
  VOLTAGENT,
  OUR_VOLTAGENT,
  LANGGRAPH,
  OUR_LANGGRAPH,
  OUR_A2A,
  A2A_SDK,
]

/** The bytes of a request. */
export function bytesOf(url: string, { path, headers = {}, body }: Ask, input: string): string {
  const text = JSON.stringify(body(input))
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}
