/**
 * The interface of OpenAI: requests a CPU-second beside our own routes, Mastra's, and a handler written by hand. All are told the
 * same conversation, and say the same pieces.
 */

import { beside } from './beside.ts'
import { INPUT } from './echo.ts'
import type { Ask, Peer } from './who.ts'

const conversation = [
  { role: 'user', content: 'What does a request cost?' },
  {
    role: 'assistant',
    content: 'That depends on what it asks for, and on who answers. Shall I repeat yours?',
  },
] as const

const turns = (input: string) => [...conversation, { role: 'user', content: input }]

/** A peer whose runs and streams are one route. */
function peer(name: string, entry: string, path: string, mark: string, body: Ask['body']): Peer {
  return {
    name,
    entry: `peers/${entry}.ts`,
    run: { path, body },
    stream: { path, body: input => ({ ...body(input), stream: true }) },
    mark,
    answer: INPUT,
  }
}

const chat = (name: string, entry: string) =>
  peer(name, entry, '/v1/chat/completions', '"content":"word', input => ({
    model: 'echo',
    messages: turns(input),
  }))

const responses = (name: string, entry: string, rest: object = { store: false }) =>
  peer(name, entry, '/v1/responses', '"delta":"word', input => ({
    model: 'echo',
    input: turns(input),
    ...rest,
  }))

const ourRoute = (path: string, rest: object): Ask => ({
  path: `/api/agents/echo/${path}`,
  body: input => ({ input, history: conversation, ...rest }),
})

const ownRoutes = (name: string, rest: object = {}): Peer => ({
  ...peer(name, OURS, '', '"text":"word', () => ({})),
  run: ourRoute('run', rest),
  stream: ourRoute('stream', rest),
})

const OURS = 'servers/interfaces'
const BY_HAND = 'frameworks/openai-express'

const OWN = ownRoutes('servable, own routes')
const OWN_STORED = ownRoutes('servable, own routes, stored', { background: true })
const CHAT = chat('servable, Chat Completions', OURS)
export const RESPONSES = responses('servable, Responses', OURS)
const STORED = responses('servable, Responses, stored', OURS, {})
export const BY_MASTRA = responses(
  "servable, Responses, Mastra's agent",
  'frameworks/servable-mastra-interfaces',
)
const EXPRESS_CHAT = chat('express, Chat Completions', BY_HAND)
const EXPRESS_RESPONSES = responses('express, Responses', BY_HAND)
export const MASTRA: Peer = peer(
  'Mastra, Responses',
  'frameworks/mastra',
  '/api/v1/responses',
  '"delta":"word',
  // A `model` would replace the agent's own.
  input => ({ agent_id: 'echo', input: turns(input) }),
)

export const OPENAI_PEERS: readonly Peer[] = [
  OWN,
  OWN_STORED,
  CHAT,
  RESPONSES,
  STORED,
  EXPRESS_CHAT,
  EXPRESS_RESPONSES,
  MASTRA,
  BY_MASTRA,
]

/** What is compared, ours first. */
const BESIDE = [
  [CHAT, OWN],
  [RESPONSES, OWN],
  [STORED, OWN_STORED],
  [CHAT, EXPRESS_CHAT],
  [RESPONSES, EXPRESS_RESPONSES],
  [STORED, EXPRESS_RESPONSES],
  [RESPONSES, MASTRA],
  [BY_MASTRA, MASTRA],
] as const

/** Measures all in turn, and writes both tables. */
export function besideOthers(): Promise<string> {
  return beside(OPENAI_PEERS, BESIDE)
}
