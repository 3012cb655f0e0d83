/**
 * The handler of the contract suites. Every runtime serves it unchanged. Its `fallback` serves the same agents with other
 * options on other paths than `/api`. `/probe` has the fixture's records.
 */
import * as v from 'valibot'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type Middleware,
  Registry,
  type Tool,
  type Toolkit,
} from '../../src/index.ts'
import { agents, mixed, teams, workflows } from './fixture/agents.ts'
import { SECRET } from './fixture/misbehaving.ts'
import { bus, notes, told } from './fixture/record.ts'

/** Marks responses that pass through it. */
const mark: Middleware = async (_request, context, next) => {
  const response = await next()
  response.headers.set('x-middleware', context.part)
  return response
}

/** Trusts the `x-test-user` header as the identity, if it can be one. */
const identify: Middleware = (request, context, next) => {
  const id = request.headers.get('x-test-user')
  if (id?.match(/\p{Cc}/u)) return new Response('no id', { status: 400 })
  if (id !== null) context.identity = { id }
  return next()
}

/** Acts as the `x-test-middleware` header says. */
const interrupt: Middleware = (request, _context, next) => {
  const what = request.headers.get('x-test-middleware')
  if (what === 'refuse') return new Response('refused', { status: 401 })
  if (what === 'throw') throw new Error(`${SECRET} ${request.headers.get('x-api-key')}`)
  if (what === 'nothing') return undefined as unknown as Response
  return next()
}

const common: HandlerOptions = {
  production: true,
  agents,
  teams,
  workflows,
  providers: { acme: { header: 'x-acme-api-key', matches: ['acme', 'acme-cloud'] } },
  cors: ['https://app.example', 'https://admin.example'],
  middleware: [mark, identify, interrupt],
  runs: { maxEvents: 10_000 },
}

const execute = () => null
/** A schema of any library, with Standard Schema's JSON Schema. */
const standard = {
  '~standard': { vendor: 'mine', jsonSchema: { input: () => ({ type: 'object', required: ['city'] }) } },
}
const toolkits: Toolkit[] = [
  {
    name: 'maths',
    tools: [
      { name: 'add', description: 'of the toolkit', execute },
      { name: 'sum', parameters: v.object({ numbers: v.array(v.number()) }), execute },
    ],
  },
  { name: 'more', tools: [{ name: 'sum', description: 'the second one', execute }] },
]
const toolLibrary: Record<string, Tool> = {
  add: {
    name: 'added',
    description: 'of the library',
    parameters: { type: 'object', properties: { a: { type: 'number' } } },
    execute,
  },
  'by a standard': { name: 's', parameters: standard, execute },
  'of a class': { name: 'c', parameters: new Map(), execute },
}

const own = new Registry()
new Agent({ name: 'mine', run: () => 'my own', register: own, events: bus })

/** The other mounts. Each is a separate handler. */
const others: Readonly<Record<string, Handler>> = {
  /** Errors are not masked. */
  dev: createHandler({ ...common, prefix: '/dev', production: false }),
  /** The time-out of runs is short. */
  short: createHandler({ ...common, prefix: '/short', runs: { timeoutMs: 300 } }),
  'short-dev': createHandler({
    ...common,
    prefix: '/short-dev',
    production: false,
    runs: { timeoutMs: 300, maxEvents: 10_000 },
  }),
  /** Explicit entries only, in a mixed list. Every origin may call. */
  closed: createHandler({ serve: mixed, registry: false, prefix: '/closed/', cors: true }),
  /** Accepts only a few files. */
  upload: createHandler({
    ...common,
    prefix: '/upload',
    fileUpload: { maxFileSize: 1000, maxFiles: 3, maxRequestSize: 20_000 },
  }),
  /** The time-out of forms is short. */
  brief: createHandler({ ...common, prefix: '/brief', fileUpload: { timeoutMs: 300 } }),
  images: createHandler({
    ...common,
    prefix: '/images',
    fileUpload: { allowedMimeTypes: ['image/*', 'application/pdf'] },
  }),
  /** Lists tools. */
  tooled: createHandler({ ...common, prefix: '/tooled', toolkits, toolLibrary }),
  /** With a registry of its own. */
  own: createHandler({ registry: own, prefix: 'own' }),
  /** Whether errors are masked depends on the runtime. None of these runtimes sets production off. */
  unsaid: createHandler({ agents, registry: false, prefix: '/unsaid' }),
}

function elsewhere(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/probe/notes') return Response.json(notes)
  if (pathname === '/probe/bus') return Response.json(told.map(line => JSON.parse(line)))
  const mount = pathname.split('/')[1] ?? ''
  const other = Object.hasOwn(others, mount) ? others[mount] : others.dev
  return other?.(request) ?? new Response(null, { status: 500 })
}

export const handler: Handler = createHandler({ ...common, fallback: elsewhere })
