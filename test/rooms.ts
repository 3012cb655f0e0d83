/** The rooms of `src`, and their tests. */
import { readdirSync } from 'node:fs'

/** The contracts in `test/runtimes` that test a room, besides the folder with its name. */
const CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  a2a: ['a2a', 'a2a-interrupted', 'push-interrupted'],
  'a2a-client': ['a2a-client', 'a2a-client-interrupted'],
  admin: ['admin', 'admin-open'],
  'ag-ui': ['ag-ui'],
  agents: ['node'],
  'ai-sdk-ui': ['ai-sdk-ui'],
  approvals: ['approvals', 'approvals-interrupted'],
  queue: ['queue', 'queue-interrupted'],
  budgets: ['budgets', 'budgets-interrupted'],
  client: ['client'],
  core: ['objects', 'plugin'],
  files: ['files', 'files-r2'],
  guards: ['guards'],
  gateway: ['gateway', 'gateway-others'],
  http: ['node', 'rate-limit', 'node-replies'],
  keys: ['keys'],
  mcp: ['mcp', 'mcp-clients', 'mcp-conformance', 'mcp-interrupted'],
  'mcp-client': ['admin', 'tool-servers'],
  metrics: ['metrics'],
  logs: ['logs'],
  'model-agent': ['ai'],
  openai: ['openai', 'openai-clients'],
  otel: ['otel'],
  schedules: ['schedules', 'schedules-interrupted'],
  sessions: ['sessions'],
  runs: ['runs', 'interrupted', 'indexes'],
  runtimes: [
    'harness',
    'command',
    'node',
    'bun',
    'deno',
    'workerd',
    'node-replies',
    'sqlite',
    'sqlite-opening',
    'passing',
  ],
  socket: ['socket'],
  state: ['sqlite', 'sqlite-opening', 'object-store'],
  web: ['node', 'outbound'],
  webhooks: ['webhooks', 'webhooks-interrupted'],
}

export const ROOMS: readonly string[] = readdirSync(new URL('../src', import.meta.url), {
  withFileTypes: true,
}).flatMap(entry => (entry.isDirectory() ? [entry.name] : []))

/** The test files of a room. A folder means all files in it. */
export function testsOf(room: string): string[] {
  const contracts = (CONTRACTS[room] ?? []).map(name => `test/runtimes/${name}.test.ts`)
  // The contracts' folder is not that of a room.
  return room === 'runtimes' ? contracts : [`test/${room}/`, ...contracts]
}
