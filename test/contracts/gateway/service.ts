/**
 * The service of the event socket's contract. Every runtime serves it with its own state, once with each of the settings.
 * `/probe` has the agents' notes and the gates that agents wait for.
 */
import {
  Agent,
  bearerAuth,
  createHandler,
  type GatewayOptions,
  type Handler,
  type HandlerOptions,
  type Middleware,
  ServableError,
  type State,
  textOf,
} from '../../../src/index.ts'
import { agents as fixture, teams, workflows } from '../fixture/agents.ts'
import { asking } from '../fixture/asking.ts'
import { SECRET } from '../fixture/misbehaving.ts'
import { notes, sleep } from '../fixture/record.ts'
import { identify } from '../identify.ts'
import { agents as common, gates } from '../runs/agents.ts'

/** Milliseconds in which clients of the recovering service may reconnect. */
export const RECOVERY_MS = 2500

/** Limits of the narrow service. */
export const NARROW = {
  maxPayload: 10_000,
  maxEventsPerSecond: 20,
  maxSockets: 6,
  maxSocketsPerIp: 5,
  maxSocketsPerIdentity: 2,
  maxRunsPerSocket: 2,
  maxBufferedBytes: 200_000,
  connectTimeout: 1000,
} as const

const unsayable = new Agent({
  name: 'unsayable',
  async *run() {
    yield 'before '
    yield { type: 'artifact', artifactId: 'a', parts: [{ type: 'data', data: 1n }] }
  },
  register: false,
})

/** Until it is stopped, it says more than can be sent to a client that does not read. */
const torrent = new Agent({
  name: 'torrent',
  async *run(input, { signal }) {
    notes.push(`${textOf(input)} started`)
    signal.addEventListener('abort', () => notes.push(`${textOf(input)} stopped`))
    for (let said = 1; !signal.aborted; said++) {
      yield { type: 'thinking', text: 'x'.repeat(10_000) }
      if (said % 10 === 0) notes.push(`${textOf(input)} said ${said}`)
      if (said % 100 === 0) await sleep(1)
    }
  },
  register: false,
})

const huge = new Agent({
  name: 'huge',
  async *run() {
    for (let chunk = 0; chunk < 60; chunk++) yield String(chunk % 10).repeat(100_000)
  },
  register: false,
})

const agents = { ...common, ...asking, unsayable, torrent, huge }

const SETTINGS = {
  usual: {},
  recovering: { recovery: { maxMs: RECOVERY_MS } },
  guarded: {
    path: '/guarded/',
    namespace: '/inner',
    origins: ['https://app.example'],
    authenticate({ auth, headers, nsp }) {
      if (auth.token === 'throws') {
        throw new Error(`${SECRET} ${auth.apiKey} ${headers.authorization} ${headers.cookie}`)
      }
      if (auth.token === 'says') throw new ServableError('forbidden', 'Your plan has no sockets')
      if (auth.token === 'problem') {
        return Response.json({ detail: 'The token is old' }, { status: 401 })
      }
      if (auth.token === 'text') return new Response('No entry', { status: 403 })
      if (headers.authorization === 'Bearer good') return { id: `bearer of "${nsp}"` }
      return typeof auth.user === 'string' ? { id: auth.user } : undefined
    },
  },
  narrow: { limits: NARROW },
  scoped: {
    agents: { told: fixture.told!, only: new Agent({ name: 'only', run: () => 'alone', register: false }) },
  },
} as const satisfies Record<string, GatewayOptions>

/** The names of the settings with which the service is started. */
export type SettingsName = keyof typeof SETTINGS

/** A token names its user. */
const tokens = bearerAuth({
  verify: token => (token.startsWith('token-of-') ? { id: token.slice('token-of-'.length) } : undefined),
})

/** Uses the identity that earlier middleware found. */
const notBanned: Middleware = (_request, { identity }, next) => {
  if (identity?.id.startsWith('banned')) throw new ServableError('forbidden', 'You are banned')
  return next()
}

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, name = 'usual', more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    agents,
    teams,
    workflows,
    state,
    cors: ['https://other.example'],
    middleware: [
      identify,
      (request, _context, next) => (isRefused(request) ? refused() : next()),
      ...(name === 'scoped' ? [tokens, notBanned] : []),
    ],
    gateway: SETTINGS[name as SettingsName],
    // A proxy may stand before it, such as nginx in the tests.
    ...(name === 'narrow' && { trustProxy: 1 }),
    fallback: probe,
    ...more,
  })
}

const refused = () => new Response('refused', { status: 401 })

function isRefused(request: Request): boolean {
  return new URL(request.url).searchParams.get('refuse') === 'yes'
}

function probe(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === '/probe/open') gates.add(searchParams.get('gate') ?? '')
  return Response.json(notes)
}
