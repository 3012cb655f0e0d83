/**
 * The service of the A2A contract. Every runtime serves it with its own state, once with each of the settings. Most tests use
 * the endpoint at the root. Other base paths have other options of the handler. `/probe` has the agents' notes and the gates
 * that agents wait for.
 */
import {
  type A2AOptions,
  bearerIdentity,
  createHandler,
  type Handler,
  type HandlerOptions,
  type Middleware,
  type RunsOptions,
  type State,
} from '../../../src/index.ts'
import { cardSigner } from '../../../src/protocols/signing/index.ts'
import { notes } from '../fixture/record.ts'
import { identify } from '../identify.ts'
import { mounted } from '../mounted.ts'
import { agents, CITATIONS, gates, teams, workflows } from './agents.ts'
import { CARD_KEYS } from './card-keys.ts'

/** An extension that clients of one base path must name. */
export const REQUIRED = 'urn:example:required:v1'

/** What identities of one tenant may use of it. */
const tenants: NonNullable<A2AOptions['tenants']> = {
  authorize(identity, tenant) {
    if (tenant === 'broken') throw new Error('the store of tenants is away')
    return (
      tenant === 'public' ||
      identity?.id.startsWith(tenant) === true ||
      identity?.id.startsWith('all-') === true
    )
  },
  agents: tenant =>
    tenant === 'narrow'
      ? ['mirror', 'team/desk']
      : [...Object.keys(agents), 'team/desk', 'workflow/pipeline'],
  card: tenant => ({ description: `agents of ${tenant}` }),
}

const extensions = [
  { uri: CITATIONS, description: 'Sources of what is said', params: { styles: ['short'] } },
  { uri: 'urn:example:other:v1' },
]

interface Setting {
  readonly a2a?: A2AOptions
  readonly runs?: RunsOptions
}

/** Most tries of a notification. */
export const MAX_TRIES = 8

/** The secret that signs notifications. */
export const WEBHOOK_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='

/** The token that allows its sender to read the extended card. */
export const CARD_TOKEN = 'token-of-a-reader'

const SETTINGS = {
  usual: {},
  tight: {
    a2a: { maxHistory: 4, maxTasksPerOwner: 3 },
    runs: { maxRunningPerOwner: 2, maxFollowers: 2 },
  },
  short: { runs: { timeoutMs: 400 } },
  full: {
    a2a: {
      sign: cardSigner({ keys: CARD_KEYS }),
      tenants,
      extensions,
      extendedCard: {
        authenticate: bearerIdentity({ tokens: { [CARD_TOKEN]: 'reader' } }),
        challenge: 'Bearer realm="cards"',
        agents: ['secretive'],
        card: ({ id }) => ({ name: `contract for ${id}` }),
      },
      push: {
        allow: ['127.0.0.1'],
        secret: WEBHOOK_SECRET,
        timeoutMs: 2000,
        maxTries: MAX_TRIES,
        retryMs: 50,
        maxRetryMs: 200,
      },
    },
  },
  patient: {
    a2a: {
      push: {
        allow: ['127.0.0.1'],
        secret: WEBHOOK_SECRET,
        timeoutMs: 2000,
        maxTries: 1000,
        retryMs: 100,
        maxRetryMs: 400,
      },
    },
  },
} satisfies Record<string, Setting>

/** The names of the settings with which the service is started. */
export type SettingsName = keyof typeof SETTINGS

/** The address in the cards of one of the base paths. */
export const PUBLIC_URL = 'https://agents.example.com'

/** The limits of one of the base paths. */
export const BOUNDS = { maxBodyBytes: 4000 } as const

/** Refuses requests that ask for it, and marks the others. */
const guard: Middleware = async (request, context, next) => {
  if (request.headers.get('x-test-middleware') === 'refuse') return new Response('refused', { status: 401 })
  const response = await next()
  response.headers.set('x-middleware', context.part)
  return response
}

const common: A2AOptions = {
  agents,
  teams,
  workflows,
  default: 'echo',
  provider: { organization: 'Example', url: 'https://example.com' },
  version: '2.3.4',
  name: 'contract',
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
}

/** The options of the service. */
function optionsOf(state: State, name = 'usual'): HandlerOptions {
  const { a2a, runs = {} }: Setting = SETTINGS[name as SettingsName]
  return {
    production: true,
    agents,
    teams,
    workflows,
    state,
    registry: false,
    middleware: [identify, guard],
    a2a: { ...common, ...a2a },
    runs: { maxRunning: 100_000, maxRunningPerOwner: 100_000, ...runs },
  }
}

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, name = 'usual', more: HandlerOptions = {}): Handler {
  const options = { ...optionsOf(state, name), ...more }
  const at = (basePath: string, a2a: A2AOptions, own: HandlerOptions = {}) =>
    createHandler({ ...options, ...own, a2a: { ...common, basePath, ...a2a } })
  const { default: _, ...undecided } = common
  const mounts: Readonly<Record<string, Handler>> = {
    /** No option selects the agent. */
    many: createHandler({ ...options, a2a: { ...undecided, basePath: '/many' } }),
    one: createHandler({
      ...options,
      a2a: { ...undecided, basePath: '/one', agents: { mirror: agents.mirror! }, teams: {}, workflows: {} },
    }),
    strict: at('/strict', { cardForm: '1.0' }),
    public: at('/public', {}, { publicUrl: PUBLIC_URL }),
    bounds: at('/bounds', BOUNDS),
    open: at('/open', { listAnonymous: true }),
    apart: at('/apart', { tenants, extensions }),
    required: at('/required', { extensions: [...extensions, { uri: REQUIRED, required: true }] }),
    tenanted: at('/tenanted', { tenants: { ...tenants, required: true } }),
    whole: at('/whole', { streaming: false }),
    unnamed: createHandler({ ...options, a2a: { agents, basePath: '/unnamed' } }),
  }
  return createHandler({ ...options, fallback: mounted(mounts, probe) })
}

function probe(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === '/probe/open') gates.add(searchParams.get('gate') ?? '')
  if (pathname === '/probe/notes') return Response.json(notes)
  return Response.json([], { status: pathname.startsWith('/probe/') ? 200 : 404 })
}
