import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../../src/', import.meta.url))

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

/** The doors of `src`, the top floor first: a door imports the ones below it. */
const DOORS = [
  'testing',
  'command',
  'entries',
  'runtimes',
  'protocols',
  'core-entry.ts',
  'client',
  'features',
  'core',
  'adapters',
  'http',
  'runs',
  'agents',
  'stores',
  'web',
  'base',
]

/** The folder at the first level of `src`. The files there are the entries. Protocols stand above the entry of the core. */
function doorOf(path: string): string {
  if (path === 'core-entry.ts') return path
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : 'entries'
}

/** Doors whose folders are parts that know nothing of each other. */
const OF_PARTS = ['protocols', 'features', 'adapters']

/** Folders of a part that are rooms of their own. */
const APART = [
  'protocols/event-socket/gateway',
  'protocols/event-socket/socket',
  'features/webhooks/delivery',
]

/** What the table below has a row for: a door, a part of one, or a file of `base` or of the entries. */
function roomOf(path: string): string {
  const apart = APART.find(room => path.startsWith(`${room}/`))
  if (apart !== undefined) return apart
  const door = doorOf(path)
  if (door === 'entries' || door === 'core-entry.ts' || door === 'base') return path.replace(/\.ts$/, '')
  return OF_PARTS.includes(door) ? path.split('/').slice(0, 2).join('/') : door
}

/** Where Node's interfaces are known: the runtimes, the command, and stores on files and sockets. */
const OF_NODE = /^(runtimes|command|stores\/(sqlite|postgres))\//

const pages = fileURLToPath(new URL('../../console/', import.meta.url))

const modules = await readModules()
const core = modules.filter(({ path }) => !OF_NODE.test(path))

async function readModules(): Promise<Module[]> {
  const paths = await readdir(source, { recursive: true })
  const typescript = paths.map(path => path.replaceAll('\\', '/')).filter(path => path.endsWith('.ts'))
  return Promise.all(typescript.toSorted().map(readModule))
}

async function readModule(path: string): Promise<Module> {
  // The code of the page, as text.
  const text = path === 'features/console/built.ts' ? '' : await readFile(join(source, path), 'utf8')
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

const isOwn = (path: string) => path.endsWith('.ts')
const imports = modules.flatMap(({ path, text }) => importsIn(path, text))
const inner = imports.filter(({ to }) => isOwn(to))
const show = ({ from, to }: Import) => `${from} → ${to}`

/** What a protocol knows that is written on the public interface. */
const PUBLIC = 'core-entry protocols/encoders web'

/** The rooms below the plugins. */
const DEEP = 'core http runs agents'

/** What each room may know beside itself. In `base` it names the files. */
const KNOWS: Readonly<Record<string, string>> = {
  'base/abort': '',
  'base/canonical-json': '',
  'base/counter': '',
  'base/defaults': '',
  'base/environment': '',
  'base/errors': '',
  'base/fair-share': '',
  'base/owner': '',
  'base/schemas': 'base/validation',
  'base/validation': 'base/errors',
  'base/wake': '',
  web: 'base/errors base/environment',
  agents: 'base/errors base/abort base/canonical-json base/defaults base/environment base/wake',
  stores: 'base/errors base/wake',
  runs: 'agents stores base/errors base/abort base/canonical-json base/owner base/validation base/wake',
  http: 'runs agents stores web base/errors base/defaults base/fair-share base/owner base/schemas base/validation',
  // No plugin's: a plugin knows the core, and the core no plugin.
  core: 'http runs agents stores web base/errors base/defaults base/environment base/schemas base/validation',
  'adapters/frameworks': 'agents base/errors',
  'adapters/model-agent': 'adapters/frameworks http agents base/errors',
  'adapters/a2a-client':
    'adapters/frameworks agents web base/errors base/abort base/environment base/schemas base/validation base/wake',
  'adapters/mcp-client': 'http agents web base/errors base/environment base/validation base/wake',
  'features/admin': 'core http agents stores web base/errors base/schemas base/validation base/wake',
  'features/approvals': `${DEEP} stores web base/errors base/owner base/schemas base/validation base/wake`,
  'features/budgets': `${DEEP} stores web base/errors base/schemas base/validation base/wake`,
  'features/chat-state': 'core stores base/errors',
  'features/console': 'core http agents web base/errors base/schemas',
  'features/files': `${DEEP} stores web base/errors base/schemas base/wake`,
  'features/guards': 'core runs agents base/errors base/schemas base/validation base/wake',
  'features/jwt': 'http web base/errors base/environment base/schemas base/validation',
  'features/keys': 'core http runs stores web base/errors base/schemas base/validation',
  'features/logs': `${DEEP} web base/errors base/environment base/validation`,
  'features/metrics': `${DEEP} stores web base/errors base/schemas base/wake`,
  'features/otel': `${DEEP} base/errors base/environment base/schemas`,
  'features/queue': `${DEEP} stores base/errors base/owner base/schemas base/wake`,
  'features/schedules': `${DEEP} stores web base/errors base/schemas base/validation base/wake`,
  'features/sessions': `${DEEP} stores web base/errors base/validation base/wake`,
  'features/small': `${DEEP} stores web base/errors base/owner base/schemas base/validation base/wake`,
  'features/webhooks': `features/webhooks/delivery ${DEEP} stores web base/errors base/environment base/schemas base/validation base/wake`,
  'features/webhooks/delivery': 'stores web base/errors base/fair-share base/wake',
  'protocols/a2a': `protocols/encoders features/webhooks/delivery ${DEEP} stores web base/errors base/defaults base/environment base/schemas base/validation base/wake`,
  // As those of a third party would, they know the public interface, the kit, and helpers of Web standards.
  'protocols/ag-ui': PUBLIC,
  // For pages: it knows nothing of the service.
  'protocols/ag-ui-client': '',
  'protocols/ai-sdk-ui': PUBLIC,
  'protocols/openai': `protocols/models ${PUBLIC}`,
  'protocols/anthropic': `protocols/models ${PUBLIC}`,
  'protocols/langgraph-api': PUBLIC,
  'protocols/models': PUBLIC,
  'protocols/encoders': `core-entry ${DEEP} web base/errors base/canonical-json base/schemas base/validation`,
  'protocols/event-socket/gateway': `protocols/event-socket/socket ${DEEP} stores web base/errors base/counter base/defaults base/schemas base/validation base/wake`,
  'protocols/event-socket/socket': 'http web base/errors base/counter base/defaults base/wake',
  'protocols/mcp': `protocols/encoders ${DEEP} web base/errors base/schemas base/validation base/wake`,
  'protocols/openapi': `${DEEP} web base/errors base/schemas base/validation`,
  'protocols/signing': 'protocols/a2a base/errors base/canonical-json base/validation',
  // Of all these, types alone: see below.
  client: 'features/approvals features/metrics features/sessions http runs agents web base/errors',
  runtimes: `adapters/mcp-client features/files features/logs protocols/openapi ${DEEP} stores web base/errors base/environment base/wake`,
  command:
    'handler options runtimes protocols/ag-ui protocols/ai-sdk-ui protocols/anthropic protocols/langgraph-api protocols/mcp protocols/openai client features/approvals features/console ' +
    'features/files features/logs features/metrics features/queue features/sessions features/small features/webhooks core ' +
    'adapters/frameworks http runs agents stores web base/errors base/validation base/wake',
  testing: `client handler options ${DEEP} stores base/errors`,
  'core-entry': `features/small features/webhooks/delivery ${DEEP} stores web base/errors`,
  options: `features/admin features/metrics features/small protocols/a2a protocols/event-socket/gateway protocols/openapi ${DEEP} web base/errors base/validation`,
  handler: 'options protocols/openapi core http agents',
  index: `handler options features/admin features/metrics features/small features/webhooks/delivery protocols/a2a protocols/event-socket/gateway protocols/openapi ${DEEP} stores web base/errors`,
}

/** Whether a module may import another: its room is named, and its door is not above. */
function mayImport({ from, to }: Import): boolean {
  const [room, known] = [roomOf(from), roomOf(to)]
  if (room === known) return true
  return (
    DOORS.indexOf(doorOf(from)) <= DOORS.indexOf(doorOf(to)) && (KNOWS[room] ?? '').split(' ').includes(known)
  )
}

/** The packages that a room may know. */
const PACKAGES: Record<string, readonly string[]> = {
  'base/schemas': ['valibot'],
  'base/validation': ['valibot'],
  runs: ['valibot'],
  core: ['valibot'],
  http: ['itty-router', 'valibot', '@valibot/to-json-schema'],
  'protocols/openapi': ['valibot', '@valibot/to-json-schema'],
  'protocols/ag-ui-client': ['@ag-ui/client'],
  'protocols/ai-sdk-ui': ['valibot', 'ai'],
  'protocols/signing': ['valibot', 'jose'],
  'features/jwt': ['valibot', 'jose'],
  'features/schedules': ['valibot', 'croner'],
  'features/otel': ['valibot', '@opentelemetry/api'],
  client: ['eventsource-parser'],
  'adapters/mcp-client': ['valibot', '@modelcontextprotocol/client'],
  'adapters/model-agent': ['ai'],
  'adapters/a2a-client': ['valibot', '@a2a-js/sdk', '@a2a-js/sdk/client'],
}

/** Parts that know no package. Plugins that are not above know valibot alone, which checks their options. */
const NO_PACKAGES = ['features/logs', 'features/webhooks/delivery', 'protocols/event-socket/socket']

describe('the rooms of src', () => {
  it('are found, with the imports between them', () => {
    expect(modules.length).toBeGreaterThan(30)
    expect(inner.map(show)).toContain('core/handler.ts → http/router.ts')
    expect(inner.map(show)).toContain('http/runs/start-run.ts → runs/run.ts')
    const paths = new Set(modules.map(({ path }) => path))
    expect(inner.filter(({ to }) => !paths.has(to)).map(show)).toEqual([])
  })

  it('stand behind a dozen doors', () => {
    expect([...new Set(modules.map(({ path }) => doorOf(path)))].toSorted()).toEqual(DOORS.toSorted())
    const entries = modules.filter(({ path }) => doorOf(path) === 'entries').map(({ path }) => path)
    expect(entries).toEqual(['handler.ts', 'index.ts', 'options.ts'])
    expect([...new Set(modules.map(({ path }) => roomOf(path)))].toSorted()).toEqual(
      Object.keys(KNOWS).toSorted(),
    )
  })

  it('know each other in one direction only', () => {
    expect(inner.filter(each => !mayImport(each)).map(show)).toEqual([])
  })

  it('leave plugins to whoever gives them: durable state knows none', () => {
    const ofWorkers = inner.filter(({ from }) => from.startsWith('runtimes/cloudflare'))
    const known = new Set(ofWorkers.map(({ to }) => roomOf(to)))
    expect([...known].toSorted()).toEqual([
      'agents',
      'base/errors',
      'core',
      'http',
      'runs',
      'runtimes',
      'stores',
      'web',
    ])
  })

  it('use a package in the room that is meant to know it', () => {
    const wrong = imports.filter(({ from, to }) => {
      const room = roomOf(from)
      const isPlugin = /^(protocols|features)\//.test(room) && !NO_PACKAGES.includes(room)
      const known = PACKAGES[room] ?? (isPlugin ? ['valibot'] : [])
      return !isOwn(to) && !OF_NODE.test(from) && !known.includes(to)
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('know itty-router in one file', () => {
    expect(imports.filter(({ to }) => to === 'itty-router').map(({ from }) => from)).toEqual([
      'http/router.ts',
    ])
  })

  it('keep the socket layer to itself: of HTTP it knows the platform alone', () => {
    const known = inner.filter(
      ({ from, to }) => from.startsWith('protocols/event-socket/socket/') && doorOf(to) === 'http',
    )
    expect(new Set(known.map(({ to }) => to))).toEqual(new Set(['http/platform.ts']))
  })

  it('leave the client to itself at run time: of the others it knows types', () => {
    const ofClient = modules.filter(({ path }) => roomOf(path) === 'client')
    const kept = ofClient.flatMap(({ path, code }) => importsIn(path, code))
    expect(kept.map(show)).toContain('client/body.ts → eventsource-parser')
    const wrong = kept.filter(({ to }) => (isOwn(to) ? roomOf(to) !== 'client' : to !== 'eventsource-parser'))
    expect(wrong.map(show)).toEqual([])
    const users = inner.filter(({ from, to }) => roomOf(to) === 'client' && roomOf(from) !== 'client')
    // The command is a program of its own, and so is a test.
    const others = users.filter(({ from }) => !/^(command|testing)\//.test(from))
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
    expect(naming).toEqual(['base/environment.ts'])
  })

  it('does nothing that a Worker forbids while it is imported', async () => {
    // Entries that bring a package which its user installs.
    const brings = (path: string) =>
      [
        'adapters/mcp-client',
        'adapters/model-agent',
        'adapters/a2a-client',
        'protocols/ag-ui-client',
        'protocols/signing',
        'features/jwt',
      ].includes(roomOf(path))
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
