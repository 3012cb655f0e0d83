/**
 * The handler of the contract suites. It is served as it is by every runtime. Beside `/api` it serves, by way of its
 * `fallback`, the same agents with other options, and under `/probe` what the fixture remembers.
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

/** Marks what went through it. */
const mark: Middleware = async (_request, context, next) => {
  const response = await next()
  response.headers.set('x-middleware', context.part)
  return response
}

/** Takes the word of the `x-test-user` header for who asks. */
const identify: Middleware = (request, context, next) => {
  const id = request.headers.get('x-test-user')
  if (id !== null) context.identity = { id }
  return next()
}

/** Does what the `x-test-middleware` header says. */
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
/** A schema of some library, with Standard Schema's JSON Schema. */
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

/** The other mounts; each is a handler of its own. */
const others: Readonly<Record<string, Handler>> = {
  /** Not masked. */
  dev: createHandler({ ...common, prefix: '/dev', production: false }),
  /** Short runs. */
  short: createHandler({ ...common, prefix: '/short', runs: { timeoutMs: 300 } }),
  'short-dev': createHandler({
    ...common,
    prefix: '/short-dev',
    production: false,
    runs: { timeoutMs: 300, maxEvents: 10_000 },
  }),
  /** Explicit entries only, in a mixed list; open to every origin. */
  closed: createHandler({ serve: mixed, registry: false, prefix: '/closed/', cors: true }),
  /** Takes files, and few of them. */
  upload: createHandler({
    ...common,
    prefix: '/upload',
    fileUpload: { maxFileSize: 1000, maxFiles: 3, maxRequestSize: 20_000 },
  }),
  /** Waits for a form for a short time. */
  brief: createHandler({ ...common, prefix: '/brief', fileUpload: { timeoutMs: 300 } }),
  images: createHandler({
    ...common,
    prefix: '/images',
    fileUpload: { allowedMimeTypes: ['image/*', 'application/pdf'] },
  }),
  /** Lists tools. */
  tooled: createHandler({ ...common, prefix: '/tooled', toolkits, toolLibrary }),
  /** A registry of its own. */
  own: createHandler({ registry: own, prefix: 'own' }),
  /** Masked or not as the runtime says; none of these says that it is not production. */
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
