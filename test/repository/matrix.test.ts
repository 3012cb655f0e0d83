/** The script that counts what is tested on which runtime. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const document = await readFile(join(root, 'docs/look-up/runtimes.md'), 'utf8')

type Test = readonly [file: string, ...names: string[]]

const on = (suite: string, ...deployments: string[]): Test[] =>
  deployments.map(name => [suite, `${suite} on ${name}`, 'works'])
const runtimes = ['Node, in memory', 'Bun, in SQLite', 'Deno', 'workerd, in Durable Objects']
const suites = [
  'runs',
  'a2a',
  'a2a-client',
  'openai',
  'anthropic',
  'langgraph-api',
  'ag-ui',
  'ai-sdk-ui',
  'mcp',
  'socket',
  'gateway',
  'ai',
]
const plugins = [
  'sessions',
  'approvals',
  'files',
  'keys',
  'budgets',
  'guards',
  'webhooks',
  'queue',
  'schedules',
]
const operation = ['metrics', 'otel', 'logs', 'admin', 'console', 'client']

/** The first words of tests in files that have many suites. */
const ofNext = [
  'keys',
  'budgets',
  'guards',
  'webhooks',
  'the queue',
  'traces',
  'sessions',
  'approvals',
  'files',
]
const kept = ['stored runs', 'A2A', 'the event socket', 'metrics', 'admin', 'schedules', ...ofNext]
const models = ['OpenAI’s interface', 'Anthropic’s interface', 'LangGraph’s interface']
const protocols = ['model-backed agents', ...models, 'AG-UI', 'chats', 'MCP', 'remote agents']
const shared = ['stored runs', 'sessions go on', 'keys that', 'budgets are', 'the queue lets', 'webhooks are']

const within = (file: string, outer: string, names: readonly string[]): Test[] =>
  names.map(name => [file, outer, name, 'works'])

/** One test for each cell that has some. */
const ONE_EACH: readonly Test[] = [
  ...['node', 'bun', 'deno', 'cloudflare', 'lambda'].flatMap((name): Test[] => [
    [name === 'cloudflare' ? 'workerd' : name, `servable/${name}`, 'over HTTP', 'silence', 'works'],
    [name === 'cloudflare' ? 'workerd' : name, `servable/${name}`, 'over HTTP', 'GET /tools', 'works'],
  ]),
  ...[...suites, ...plugins, ...operation].flatMap(suite => on(suite, ...runtimes)),
  ...on('command', 'Node', 'bun', 'workerd'),
  ...on('chat-state', ...runtimes, 'one PostgreSQL database'),
  ['rate-limit', 'a limit that two processes share in PostgreSQL'],
  ...within('postgres-contracts', 'Node, in PostgreSQL', kept),
  ...within('postgres-protocols', 'Node, in PostgreSQL', protocols),
  ...within('serverless', 'two Next.js processes over PostgreSQL', shared),
  ...within('next', 'a Node route', [...ofNext, 'AG-UI', 'MCP', ...models, 'remote agents']),
  ...within('next', 'an Edge route', ['guards', 'traces']),
  ...['a Node route', 'an Edge route'].flatMap((route): Test[] => [
    ['next', route, 'over HTTP', 'silence', 'works'],
    ['next', route, 'the log', 'works'],
    ['next', `the client on ${route}`, 'works'],
  ]),
  ['next', 'a Node route', 'stored runs', 'works'],
  ['next', 'a Node route', 'A2A', 'works'],
  ['next', 'a Node route', 'metrics', 'works'],
  ['next', 'admin on a Node route', 'works'],
  ['next', 'the gateway in a Node route', 'works'],
  ['next', 'a model-backed agent on a Node route', 'works'],
  ['next', 'chats on a Node route', 'chats', 'works'],
  ['next', 'a Node route with the console', 'the console', 'works'],
]

/** The row of each entry of the package, or its column. */
const ENTRIES: Readonly<Record<string, string>> = {
  '.': 'HTTP',
  './core': 'HTTP',
  './a2a': 'A2A',
  './signing': 'A2A',
  './a2a-client': 'Remote agents',
  './openai': 'OpenAI’s interface',
  './openai/chat-completions': 'OpenAI’s interface',
  './anthropic': 'Anthropic’s interface',
  './langgraph-api': 'LangGraph’s interface',
  './ag-ui': 'AG-UI',
  './ag-ui-client': 'AG-UI',
  './encoders': 'AG-UI',
  './ai-sdk-ui': 'Chats of the AI SDK',
  './ai-sdk-ui/page': 'Chats of the AI SDK',
  './mcp': 'MCP server',
  './socket': 'Socket layer',
  './event-socket': 'Event socket',
  './model-agent': 'Model agents',
  './sessions': 'Sessions',
  './approvals': 'Approvals',
  './files': 'Files',
  './keys': 'Keys, tokens, roles, pauses',
  './jwt': 'Keys, tokens, roles, pauses',
  './budgets': 'Budgets',
  './guards': 'Guards',
  './webhooks': 'Webhooks',
  './queue': 'Queue',
  './schedules': 'Schedules',
  './chat-state': 'Bots',
  './metrics': 'Metrics',
  './otel': 'Traces',
  './logs': 'Logs',
  './admin': 'Admin routes, tool servers',
  './mcp-client': 'Admin routes, tool servers',
  './stdio': 'Admin routes, tool servers',
  './console': 'Console',
  './client': 'Client',
  './tools': 'Tools, uploads, log, limits, documentation',
  './openapi': 'Tools, uploads, log, limits, documentation',
  './swagger-ui': 'Tools, uploads, log, limits, documentation',
  './node': 'Node',
  './sqlite': 'Node',
  './postgres': 'PostgreSQL',
  './bun': 'Bun',
  './deno': 'Deno',
  './cloudflare': 'workerd',
  './next': 'Next.js, Node',
  './lambda': 'Lambda',
}

/** Tested on Node: with the frameworks and the platform that they are for, and in the runners of tests. */
const APART = ['./adapters', './agentcore', './test']

describe('matrix', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'servable-matrix-'))
    await mkdir(join(folder, 'docs/look-up'), { recursive: true })
    await writeFile(join(folder, 'docs/look-up/runtimes.md'), document)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function matrix(command: string, tests: readonly Test[], status = 'passed'): Promise<void> {
    const testResults = tests.map(([file, ...names]) => ({
      name: `/test/runtimes/${file}.test.ts`,
      assertionResults: [{ ancestorTitles: names.slice(0, -1), title: names.at(-1), status }],
    }))
    await writeFile(join(folder, 'report.json'), JSON.stringify({ testResults }))
    const args = [join(root, '.ci/matrix.ts'), command, 'report.json']
    await promisify(execFile)(process.execPath, args, { cwd: folder })
  }

  it('has a row or a column for each entry of the package', async () => {
    const { exports: entries } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect([...Object.keys(ENTRIES), ...APART].sort()).toEqual(Object.keys(entries).sort())
    for (const place of Object.values(ENTRIES)) expect(document).toContain(`| ${place} |`)
  })

  it('finds the document right, whatever the counts', async () => {
    await matrix('check', ONE_EACH)
    await matrix('write', [...ONE_EACH, ...on('runs', 'Node, in SQLite')])
    expect(await readFile(join(folder, 'docs/look-up/runtimes.md'), 'utf8')).toMatch(
      /\| Stored runs \| 2 \| 1 \|/,
    )
    await matrix('check', ONE_EACH)
  })

  it('says which cell has lost its tests, or has some in spite of its reason', async () => {
    const lost = ONE_EACH.filter(([file]) => file !== 'runs')
    await expect(matrix('check', lost)).rejects.toThrow('Stored runs, Node: has neither tests nor a reason')
    const tests: Test[] = [...ONE_EACH, ['next', 'an Edge route', 'A2A', 'works']]
    await expect(matrix('check', tests)).rejects.toThrow('A2A, Next.js, Edge: has tests, and a reason')
    await expect(matrix('check', ONE_EACH, 'failed')).rejects.toThrow('has neither tests nor a reason')
  })

  it('says that the document has another cell', async () => {
    await writeFile(join(folder, 'docs/look-up/runtimes.md'), document.replace(/(Client \|) \d+/, '$1 –'))
    await expect(matrix('check', ONE_EACH)).rejects.toThrow(
      'docs/look-up/runtimes.md is not what the reports say',
    )
  })
})
