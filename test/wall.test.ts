import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../src/', import.meta.url))

interface Module {
  /** Path below src, such as `agents/agent.ts`. */
  readonly path: string
  readonly text: string
  /** What is left at run time: no types and no comments. */
  readonly code: string
}

interface Import {
  readonly from: string
  /** A path below src, or the name of a package. */
  readonly to: string
}

const pages = fileURLToPath(new URL('../console/', import.meta.url))

const modules = await readModules()
const core = modules.filter(({ path }) => roomOf(path) !== 'runtimes')

async function readModules(): Promise<Module[]> {
  const paths = await readdir(source, { recursive: true })
  const typescript = paths.map(path => path.replaceAll('\\', '/')).filter(path => path.endsWith('.ts'))
  return Promise.all(typescript.toSorted().map(readModule))
}

async function readModule(path: string): Promise<Module> {
  // The code of the page, as text.
  const text = path === 'console/built.ts' ? '' : await readFile(join(source, path), 'utf8')
  const tsconfigRaw = { compilerOptions: { target: 'es2024', verbatimModuleSyntax: true } } as const
  const { code } = await transform(text, { loader: 'ts', legalComments: 'none', tsconfigRaw })
  return { path, text, code }
}

/** Every import of `text`, of `import`, `export … from` and `import(…)`. */
function importsIn(path: string, text: string): Import[] {
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\s[^'"]*?from\s*['"]([^'"]+)['"]/gm),
    ...text.matchAll(/^import\s*['"]([^'"]+)['"]/gm),
    ...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g),
  ].map(match => match[1]!)
  return specifiers.map(specifier => ({ from: path, to: resolve(path, specifier) }))
}

function resolve(path: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(dirname(path), specifier) : specifier
}

/** The folder of a module; a file that stands alone is a room of its own. */
function roomOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.ts$/, '')
}

const isOwn = (path: string) => path.endsWith('.ts')
const imports = modules.flatMap(({ path, text }) => importsIn(path, text))
const inner = imports.filter(({ to }) => isOwn(to))
const show = ({ from, to }: Import) => `${from} → ${to}`

/** What each room may know beside itself. A room that is not here may know nobody. */
const KNOWS: Record<string, readonly string[]> = {
  errors: [],
  defaults: [],
  wake: [],
  retired: [],
  counter: [],
  'fair-share': [],
  'canonical-json': [],
  validation: ['errors'],
  schemas: ['validation'],
  environment: [],
  'key-text': [],
  web: ['errors', 'environment'],
  agents: ['errors', 'defaults', 'environment', 'wake', 'canonical-json'],
  state: ['errors', 'wake'],
  runs: ['errors', 'validation', 'wake', 'retired', 'canonical-json', 'agents', 'state'],
  http: [
    'errors',
    'key-text',
    'defaults',
    'fair-share',
    'validation',
    'schemas',
    'web',
    'agents',
    'state',
    'runs',
  ],
  'webhook-delivery': ['errors', 'fair-share', 'wake', 'state', 'web'],
  a2a: [
    'errors',
    'schemas',
    'core',
    'defaults',
    'fair-share',
    'validation',
    'environment',
    'wake',
    'web',
    'agents',
    'state',
    'runs',
    'http',
    'encoders',
    'webhook-delivery',
  ],
  socket: ['errors', 'defaults', 'counter', 'wake', 'web', 'http'],
  console: ['errors', 'schemas', 'core', 'web', 'http'],
  openapi: ['errors', 'validation', 'schemas', 'core', 'web', 'agents', 'runs', 'http'],
  encoders: ['errors', 'validation', 'core', 'web', 'agents', 'runs', 'http'],
  'ai-sdk-ui': [
    'canonical-json',
    'errors',
    'validation',
    'schemas',
    'core',
    'encoders',
    'web',
    'agents',
    'runs',
    'http',
  ],
  'ag-ui': ['errors', 'validation', 'schemas', 'core', 'encoders', 'web', 'agents', 'runs', 'http'],
  mcp: ['errors', 'validation', 'schemas', 'wake', 'core', 'encoders', 'web', 'agents', 'runs', 'http'],
  openai: ['errors', 'validation', 'schemas', 'core', 'encoders', 'web', 'agents', 'runs', 'http'],
  approvals: ['errors', 'validation', 'schemas', 'wake', 'core', 'web', 'agents', 'state', 'runs', 'http'],
  queue: ['errors', 'schemas', 'wake', 'core', 'agents', 'state', 'runs', 'http'],
  guards: ['errors', 'validation', 'schemas', 'wake', 'core', 'agents', 'runs'],
  budgets: ['errors', 'validation', 'schemas', 'wake', 'core', 'web', 'agents', 'state', 'runs', 'http'],
  keys: ['errors', 'validation', 'schemas', 'core', 'web', 'state', 'runs', 'http'],
  webhooks: [
    'errors',
    'validation',
    'schemas',
    'environment',
    'wake',
    'core',
    'web',
    'agents',
    'state',
    'runs',
    'http',
    'webhook-delivery',
  ],
  schedules: ['errors', 'validation', 'schemas', 'wake', 'core', 'web', 'agents', 'state', 'runs', 'http'],
  files: ['errors', 'schemas', 'core', 'wake', 'web', 'agents', 'state', 'runs', 'http'],
  sessions: ['errors', 'validation', 'core', 'wake', 'web', 'agents', 'state', 'runs', 'http'],
  admin: ['errors', 'validation', 'schemas', 'wake', 'core', 'web', 'agents', 'state', 'http'],
  adapters: ['errors', 'key-text', 'agents'],
  'mcp-client': ['errors', 'validation', 'environment', 'wake', 'web', 'agents', 'http'],
  signing: ['errors', 'validation', 'canonical-json', 'a2a'],
  'a2a-client': [
    'errors',
    'schemas',
    'validation',
    'environment',
    'retired',
    'wake',
    'web',
    'agents',
    'adapters',
  ],
  logs: ['errors', 'environment', 'validation', 'core', 'web', 'agents', 'runs', 'http'],
  'model-agent': ['errors', 'key-text', 'agents', 'http', 'adapters'],
  // Of all these, types alone: see below.
  client: ['errors', 'web', 'agents', 'runs', 'http', 'metrics', 'approvals', 'sessions'],
  otel: ['errors', 'schemas', 'environment', 'core', 'agents', 'runs', 'http'],
  metrics: ['errors', 'schemas', 'core', 'wake', 'web', 'agents', 'state', 'runs', 'http'],
  gateway: [
    'wake',
    'errors',
    'schemas',
    'core',
    'defaults',
    'validation',
    'counter',
    'web',
    'agents',
    'state',
    'runs',
    'http',
    'socket',
  ],
  // No plugin's: a plugin knows the core, and the core no plugin.
  core: [
    'errors',
    'defaults',
    'validation',
    'schemas',
    'environment',
    'web',
    'agents',
    'state',
    'runs',
    'http',
  ],
  'core-entry': ['errors', 'webhook-delivery', 'web', 'agents', 'runs', 'state', 'http', 'core', 'plugins'],
  plugins: ['errors', 'validation', 'schemas', 'web', 'agents', 'state', 'runs', 'http', 'core'],
  options: [
    'errors',
    'validation',
    'web',
    'agents',
    'runs',
    'http',
    'core',
    'plugins',
    'a2a',
    'gateway',
    'metrics',
    'openapi',
    'admin',
  ],
  handler: ['agents', 'http', 'core', 'openapi', 'options'],
  index: [
    'admin',
    'errors',
    'web',
    'agents',
    'state',
    'runs',
    'http',
    'core',
    'a2a',
    'gateway',
    'metrics',
    'openapi',
    'options',
    'handler',
    'webhook-delivery',
  ],
  runtimes: [
    'wake',
    'errors',
    'environment',
    'files',
    'web',
    'agents',
    'state',
    'runs',
    'http',
    'core',
    'mcp-client',
    'openapi',
    'logs',
    'client',
  ],
}

/** The packages that a room may know. */
const PACKAGES: Record<string, readonly string[]> = {
  validation: ['valibot'],
  schemas: ['valibot'],
  runs: ['valibot'],
  core: ['valibot'],
  plugins: ['valibot'],
  http: ['itty-router', 'valibot', '@valibot/to-json-schema'],
  console: ['valibot'],
  openapi: ['valibot', '@valibot/to-json-schema'],
  a2a: ['valibot'],
  gateway: ['valibot'],
  encoders: ['valibot'],
  'ai-sdk-ui': ['valibot', 'ai'],
  'ag-ui': ['valibot'],
  openai: ['valibot'],
  mcp: ['valibot'],
  approvals: ['valibot'],
  queue: ['valibot'],
  guards: ['valibot'],
  budgets: ['valibot'],
  keys: ['valibot'],
  webhooks: ['valibot'],
  schedules: ['valibot', 'croner'],
  files: ['valibot'],
  sessions: ['valibot'],
  admin: ['valibot'],
  metrics: ['valibot'],
  otel: ['valibot', '@opentelemetry/api'],
  client: ['eventsource-parser'],
  'mcp-client': ['valibot', '@modelcontextprotocol/client'],
  'model-agent': ['ai'],
  signing: ['valibot', 'jose'],
  'a2a-client': ['valibot', '@a2a-js/sdk', '@a2a-js/sdk/client'],
}

describe('the rooms of src', () => {
  it('are found, with the imports between them', () => {
    expect(modules.length).toBeGreaterThan(30)
    expect(inner.map(show)).toContain('core/handler.ts → http/router.ts')
    expect(inner.map(show)).toContain('http/start-run.ts → runs/run.ts')
    const paths = new Set(modules.map(({ path }) => path))
    expect(inner.filter(({ to }) => !paths.has(to)).map(show)).toEqual([])
  })

  it('know each other in one direction only', () => {
    const wrong = inner.filter(({ from, to }) => {
      const [room, known] = [roomOf(from), roomOf(to)]
      return room !== known && !(KNOWS[room] ?? []).includes(known)
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('leave `runtimes` to those who start a server', () => {
    const wrong = inner.filter(({ from, to }) => roomOf(to) === 'runtimes' && roomOf(from) !== 'runtimes')
    expect(wrong.map(show)).toEqual([])
  })

  it('leave plugins to whoever gives them: durable state knows none', () => {
    const ofWorkers = inner.filter(({ from }) => from.startsWith('runtimes/cloudflare'))
    const known = new Set(ofWorkers.map(({ to }) => roomOf(to)))
    expect([...known].toSorted()).toEqual([
      'agents',
      'core',
      'errors',
      'http',
      'runs',
      'runtimes',
      'state',
      'web',
    ])
  })

  it('use a package in the room that is meant to know it', () => {
    const wrong = imports.filter(({ from, to }) => {
      const room = roomOf(from)
      return !isOwn(to) && room !== 'runtimes' && !(PACKAGES[room] ?? []).includes(to)
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('know itty-router in one file', () => {
    expect(imports.filter(({ to }) => to === 'itty-router').map(({ from }) => from)).toEqual([
      'http/router.ts',
    ])
  })

  it('keep the socket layer to itself: of HTTP it knows the platform alone', () => {
    const known = inner.filter(({ from, to }) => roomOf(from) === 'socket' && roomOf(to) === 'http')
    expect(new Set(known.map(({ to }) => to))).toEqual(new Set(['http/platform.ts']))
  })

  it('leave the client to itself at run time: of the others it knows types', () => {
    const ofClient = modules.filter(({ path }) => roomOf(path) === 'client')
    const kept = ofClient.flatMap(({ path, code }) => importsIn(path, code))
    expect(kept.map(show)).toContain('client/body.ts → eventsource-parser')
    const wrong = kept.filter(({ to }) => (isOwn(to) ? roomOf(to) !== 'client' : to !== 'eventsource-parser'))
    expect(wrong.map(show)).toEqual([])
    const users = inner.filter(({ from, to }) => roomOf(to) === 'client' && roomOf(from) !== 'client')
    // The command is a program of its own.
    const others = users.filter(({ from }) => !from.startsWith('runtimes/command/'))
    expect(others.map(show)).toEqual([])
  })

  it('have no circles at run time', () => {
    expect(circleIn(graphOf(({ code }) => code))).toBeUndefined()
  })

  it('have no circles of types either', () => {
    const graph = graphOf(({ text }) => text)
    // The one that is known: the bindings name the objects of their room, which know the bindings.
    const bindings = 'runtimes/cloudflare/bindings.ts'
    const beyond = graph.get(bindings)?.filter(to => !to.startsWith('runtimes/cloudflare/')) ?? []
    expect(circleIn(new Map([...graph, [bindings, beyond]]))).toBeUndefined()
  })
})

/** Most lines of a file. */
const MAX_LINES = 400

describe('the files of src and console', () => {
  it(`have at most ${MAX_LINES} lines`, async () => {
    const ofPages = (await readdir(pages, { recursive: true })).filter(path => /\.(tsx?|css)$/.test(path))
    const read = async (path: string) => ({ path, text: await readFile(join(pages, path), 'utf8') })
    const files = [
      ...modules.map(({ path, text }) => ({ path: `src/${path}`, text })),
      ...(await Promise.all(ofPages.map(read))).map(({ path, text }) => ({ path: `console/${path}`, text })),
    ]
    expect(files.length).toBeGreaterThan(modules.length + 10)
    const long = files.filter(({ text }) => text.trimEnd().split('\n').length > MAX_LINES)
    expect(long.map(({ path }) => path)).toEqual([])
  })
})

/** Which modules each module imports, by what is looked at of it. */
function graphOf(look: (module: Module) => string): Map<string, readonly string[]> {
  const importsOf = (module: Module) => importsIn(module.path, look(module)).map(({ to }) => to)
  return new Map(modules.map(module => [module.path, importsOf(module).filter(isOwn)]))
}

/** A circle of modules, if there is one. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of graph.get(path) ?? []) {
      const circle = visit(next, [...trail, path])
      if (circle !== undefined) return circle
    }
    done.add(path)
    return undefined
  }
  for (const path of graph.keys()) {
    const circle = visit(path, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

describe('circleIn', () => {
  it('finds a circle, and none where there is none', () => {
    const line = new Map([
      ['a', ['b', 'c']],
      ['b', ['c']],
      ['c', []],
    ])
    expect(circleIn(line)).toBeUndefined()
    expect(circleIn(new Map([...line, ['c', ['a']]]))).toEqual(['a', 'b', 'c', 'a'])
  })
})

describe('the core', () => {
  it('names no runtime, but for the one file that asks for the environment', () => {
    const names =
      /(?<!(?<!globalThis)\.|[\w$'"`-])(Bun|Deno|process|Buffer|__dirname|require)\b(?!\s*:)|['"](node|cloudflare|bun):/
    const naming = core.filter(({ code }) => names.test(code)).map(({ path }) => path)
    expect(naming).toEqual(['environment.ts'])
  })

  it('does nothing that a Worker forbids while it is imported', async () => {
    // Entries that bring a package which its user installs.
    const brings = (path: string) =>
      ['mcp-client', 'model-agent', 'signing', 'a2a-client'].includes(roomOf(path))
    const urlOf = ({ path }: Module) => pathToFileURL(join(source, path)).href
    const urls = core.filter(({ path }) => !brings(path)).map(urlOf)
    const optional = core.filter(({ path }) => brings(path)).map(urlOf)
    const script = `
      const forbid = (owner, name) => {
        Object.defineProperty(owner, name, { value: () => { throw new Error('called while importing: ' + name) } })
      }
      const timers = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']
      for (const name of [...timers, 'fetch', 'WebSocket', 'EventSource', 'BroadcastChannel']) forbid(globalThis, name)
      for (const name of ['randomUUID', 'getRandomValues']) forbid(crypto, name)
      const before = Reflect.ownKeys(globalThis).length
      for (const url of ${JSON.stringify(urls)}) await import(url)
      console.log(Reflect.ownKeys(globalThis).length - before)
      // The client that this entry brings keeps globals of its own.
      for (const url of ${JSON.stringify(optional)}) await import(url)
    `
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
    expect(stdout.trim()).toBe('0')
  })
})

describe('the exports of src', () => {
  it('have names', () => {
    const wrong = modules.filter(({ code }) => /^export default\b|\bas default\b/m.test(code))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it('are listed one by one', () => {
    const wrong = modules.filter(({ text }) => /^export (type )?\*/m.test(text))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  const index = modules.find(({ path }) => path === 'index.ts')!
  const exported = [...index.text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, names, specifier]) =>
      names!
        .split(',')
        .map(name => name.trim().replace(/^type /, ''))
        .filter(Boolean)
        .map(name => [name, resolve('index.ts', specifier!)] as const),
  )

  it('are re-exports only in the entry', () => {
    expect(exported.length).toBeGreaterThan(50)
    expect(index.text.match(/^export/gm)).toHaveLength(index.text.match(/^\}? ?.*from '/gm)?.length ?? 0)
  })

  it.each(exported)('say what they are for: %s', (name, path) => {
    const { text } = modules.find(module => module.path === path)!
    const declaration = new RegExp(
      `\\*/\\nexport (declare |abstract |async )*(class|function\\*?|const|let|interface|type) ${name}\\b`,
    )
    expect(text).toMatch(declaration)
  })
})
