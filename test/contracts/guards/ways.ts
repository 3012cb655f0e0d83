/** The ways to ask an agent of the service of the contract of guards. */
import { type Client, clientOf, ended, plain, stock } from '../gateway/client.ts'
import { jsonRequest } from '../http/client.ts'
import { ask, callOf } from '../mcp/client.ts'
import { as, type Fields, own, type Server } from '../runs/client.ts'

/** Says something to an agent as somebody, with what was said before. Gives all that is told of it. */
export type Way = (server: Server, said: Saying) => Promise<string>

export interface Saying {
  readonly name: string
  readonly who: string
  readonly text: string
}

/** Sends a body, and reads the answer to its end. */
export async function send(server: Server, path: string, body: object, headers: Fields): Promise<string> {
  return (await fetch(server().url + path, jsonRequest(body, headers))).text()
}

const over =
  (path: string, bodyOf: (said: Saying) => object, more: Fields = {}): Way =>
  (server, said) =>
    send(server, path.replace(':name', said.name), bodyOf(said), { ...as(said.who), ...more })

const message = ({ text }: Saying) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
})

const a2a = (method: string): Way =>
  over('/agents/:name', said => ({ jsonrpc: '2.0', id: 1, method, params: message(said) }), {
    'a2a-version': '1.0',
  })

async function played(client: Client, { name, text }: Saying): Promise<string> {
  const ack = await client.ask('agent.run', { name, input: text })
  if ('runId' in ack) await ended(client, ack.runId)
  return JSON.stringify([ack, client.got])
}

const socket: Way = (server, said) => played(clientOf(stock(server, { extraHeaders: as(said.who) })), said)

const plainSocket: Way = async (server, said) => played(await plain(server, { headers: as(said.who) }), said)

const user = (content: string) => ({ role: 'user', content })

export const WAYS: Readonly<Record<string, Way>> = {
  JSON: over('/api/agents/:name/run', ({ text }) => ({ input: text })),
  SSE: over('/api/agents/:name/stream', ({ text }) => ({ input: text })),
  'a stored run': (server, { name, who, text }) =>
    send(
      server,
      `/api/agents/${name}/stream`,
      { input: text },
      { ...as(who), 'idempotency-key': own('key') },
    ),
  'a socket': socket,
  'a plain socket': plainSocket,
  A2A: a2a('SendMessage'),
  'A2A as a stream': a2a('SendStreamingMessage'),
  MCP: async (server, { name, who, text }) =>
    (await ask(server, 'tools/call', callOf(name, text), { headers: as(who) })).text(),
  'AG-UI': over('/api/agents/:name/ag-ui', ({ text }) => ({
    threadId: crypto.randomUUID(),
    runId: crypto.randomUUID(),
    ...{ state: {}, tools: [], context: [], forwardedProps: {} },
    messages: [{ id: 'm', ...user(text) }],
  })),
  'the AI SDK': over('/api/agents/:name/chat', ({ text }) => ({
    id: crypto.randomUUID(),
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }],
  })),
  'Chat Completions': over('/v1/chat/completions', ({ name, text }) => ({
    model: name,
    messages: [user('1234-5678 before'), { role: 'assistant', content: 'yes' }, user(text)],
  })),
  Responses: over('/v1/responses', ({ name, text }) => ({ model: name, input: text })),
}
