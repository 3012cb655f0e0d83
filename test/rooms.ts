/** The rooms of `src`, and their tests. */
import { readdirSync } from 'node:fs'

/** The contracts in `test/runtimes` that test a room, besides the folder with its name. */
const CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  a2a: ['a2a', 'a2a-interrupted', 'push-interrupted'],
  'a2a-client': ['a2a-client', 'a2a-client-interrupted'],
  admin: ['admin', 'admin-open'],
  'ag-ui': ['ag-ui'],
  adapters: ['ai'],
  agents: ['node'],
  'ai-sdk-ui': ['ai-sdk-ui'],
  approvals: ['approvals', 'approvals-interrupted'],
  queue: ['queue', 'queue-interrupted'],
  budgets: ['budgets', 'budgets-interrupted'],
  client: ['client'],
  command: ['command', 'doctor'],
  core: ['objects', 'plugin'],
  'event-socket': ['gateway', 'gateway-others', 'socket'],
  files: ['files', 'files-r2'],
  guards: ['guards'],
  http: ['node', 'rate-limit', 'node-replies'],
  keys: ['keys'],
  mcp: ['mcp', 'mcp-conformance', 'mcp-interrupted'],
  'mcp-client': ['admin', 'tool-servers'],
  metrics: ['metrics'],
  logs: ['logs'],
  'model-agent': ['ai'],
  openai: ['openai'],
  anthropic: ['anthropic'],
  'langgraph-api': ['langgraph-api'],
  otel: ['otel'],
  schedules: ['schedules', 'schedules-interrupted'],
  sessions: ['sessions'],
  runs: ['runs', 'interrupted', 'indexes'],
  runtimes: [
    'harness',
    'node',
    'bun',
    'deno',
    'workerd',
    'node-replies',
    'sqlite',
    'sqlite-opening',
    'in-memory',
  ],
  stores: ['sqlite', 'sqlite-opening', 'object-store'],
  testing: ['testing'],
  web: ['node', 'outbound'],
  webhooks: ['webhooks', 'webhooks-interrupted'],
}

const foldersIn = (path: string): string[] =>
  readdirSync(new URL(`../src/${path}`, import.meta.url), { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? [entry.name] : [],
  )

/** Doors whose folders are rooms too. */
const OF_PARTS = ['protocols', 'features', 'adapters']

/** The folder of each room below `src` and `test`, by its name. */
const FOLDERS: ReadonlyMap<string, string> = new Map(
  foldersIn('').flatMap(door => {
    const parts = OF_PARTS.includes(door) ? foldersIn(door) : []
    return [[door, door], ...parts.map(part => [part, `${door}/${part}`] as const)] as const
  }),
)

export const ROOMS: readonly string[] = [...FOLDERS.keys()]

/** The test files of a room. A folder means all files in it. */
export function testsOf(room: string): string[] {
  const contracts = (CONTRACTS[room] ?? []).map(name => `test/runtimes/${name}.test.ts`)
  // These have contracts alone: `test/runtimes` is the folder of all contracts.
  return ['runtimes', 'command'].includes(room) ? contracts : [`test/${FOLDERS.get(room)}/`, ...contracts]
}
