/**
 * The interface of OpenAI: requests a CPU-second beside our own routes, Mastra's, and a handler written by hand. All are told the
 * same conversation, and say the same pieces.
 */

import { median } from '../measure.ts'
import { IN_TURNS, INPUT, PIECES } from './echo.ts'
import { installPeers } from './install.ts'
import { Server } from './server.ts'
import type { Ask, Peer } from './who.ts'

const WINDOW_MS = 400
const ROUNDS = 15
const WARM_UP = 3

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
    holds: false,
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

const OURS = 'servers/openai'
const BY_HAND = 'frameworks/openai-express'

const OWN = ownRoutes('servable, own routes')
const OWN_STORED = ownRoutes('servable, own routes, stored', { background: true })
const CHAT = chat('servable, Chat Completions', OURS)
const RESPONSES = responses('servable, Responses', OURS)
const STORED = responses('servable, Responses, stored', OURS, {})
const BY_MASTRA = responses("servable, Responses, Mastra's agent", 'frameworks/openai-mastra')
const EXPRESS_CHAT = chat('express, Chat Completions', BY_HAND)
const EXPRESS_RESPONSES = responses('express, Responses', BY_HAND)
const MASTRA: Peer = peer(
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

/** Requests a CPU-second of the server: JSON, streams, and streams with a turn of the event loop before each piece. */
const measures = {
  json: (server: Server) => server.runs(WINDOW_MS),
  streams: (server: Server) => server.streams(WINDOW_MS),
  inTurns: (server: Server) => server.streams(WINDOW_MS, IN_TURNS),
} as const

type Measure = keyof typeof measures

const NAMES = Object.keys(measures) as Measure[]

type Taken = ReadonlyMap<Peer, Readonly<Record<Measure, number[]>>>

/** Measures all in turn, and writes both tables. */
export async function besideOthers(): Promise<string> {
  installPeers()
  const servers: Server[] = []
  try {
    for (const each of OPENAI_PEERS) servers.push(await Server.open(each))
    for (let round = 0; round < WARM_UP; round++) await roundOf(servers)
    const taken: Taken = new Map(OPENAI_PEERS.map(each => [each, { json: [], streams: [], inTurns: [] }]))
    for (let round = 0; round < ROUNDS; round++) {
      console.error(`… round ${round + 1} of ${ROUNDS}`)
      await roundOf(round % 2 === 0 ? servers : servers.toReversed(), taken)
    }
    return `${rates(taken)}\n\n${ratios(taken)}`
  } finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}

/** Measures each server by the same right after the other: what else the machine does is much the same for both. */
async function roundOf(servers: readonly Server[], taken?: Taken): Promise<void> {
  for (const name of NAMES) {
    for (const server of servers) {
      const { perCpuSecond } = await measures[name](server)
      taken?.get(server.peer)?.[name].push(perCpuSecond)
    }
  }
}

function spread(values: readonly number[], digits: number): string {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)]
  return `${middle.toFixed(digits)} (${least.toFixed(digits)}-${most.toFixed(digits)})`
}

function rates(taken: Taken): string {
  const perPiece = (streams: readonly number[]) => streams.map(perSecond => 1e6 / perSecond / PIECES)
  const rows = OPENAI_PEERS.map(each => {
    const { json, streams, inTurns } = taken.get(each)!
    const cells = [spread(json, 0), spread(streams, 0), spread(inTurns, 0), spread(perPiece(streams), 1)]
    return `| ${[each.name, ...cells, spread(perPiece(inTurns), 1)].join(' | ')} |`
  })
  return [
    '| server | JSON | streams | streams in turns | CPU of a piece, µs | in turns, µs |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function ratios(taken: Taken): string {
  const rows = BESIDE.map(([ours, other]) => {
    const cells = NAMES.map(name => {
      const others = taken.get(other)![name]
      return spread(
        taken.get(ours)![name].map((value, round) => value / others[round]!),
        2,
      )
    })
    return `| ${[ours.name, other.name, ...cells].join(' | ')} |`
  })
  return ['| what | beside | JSON | streams | streams in turns |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}
