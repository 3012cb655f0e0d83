/** The rooms of `src`, and their tests. */
import { readdirSync } from 'node:fs'

/** The contracts in `test/runtimes` that test a room, besides the folder with its name. */
const CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  a2a: ['a2a', 'a2a-interrupted', 'push-interrupted'],
  admin: ['admin', 'admin-open'],
  'ag-ui': ['ag-ui'],
  agents: ['node'],
  'ai-sdk-ui': ['ai-sdk-ui'],
  approvals: ['approvals', 'approvals-interrupted'],
  client: ['client'],
  core: ['objects', 'plugin'],
  files: ['files', 'files-r2'],
  gateway: ['gateway', 'gateway-others'],
  http: ['node', 'rate-limit', 'node-replies'],
  mcp: ['mcp', 'mcp-clients', 'mcp-conformance', 'mcp-interrupted'],
  'mcp-client': ['admin', 'tool-servers'],
  metrics: ['metrics'],
  'model-agent': ['ai'],
  openai: ['openai', 'openai-clients'],
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
    'passing',
  ],
  socket: ['socket'],
  state: ['sqlite', 'sqlite-opening', 'object-store'],
  web: ['node'],
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
