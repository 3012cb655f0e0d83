/** The rooms of `src`, and what tests them. */
import { readdirSync } from 'node:fs'

/** The contracts of `test/runtimes` that touch a room, beside the tests in the folder of its name. */
const CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  a2a: ['a2a', 'a2a-interrupted', 'push-interrupted'],
  admin: ['admin', 'admin-open'],
  agents: ['node'],
  client: ['client'],
  core: ['objects', 'plugin'],
  files: ['files', 'files-r2'],
  gateway: ['gateway', 'gateway-others'],
  http: ['node', 'rate-limit', 'node-replies'],
  'mcp-client': ['admin', 'tool-servers'],
  metrics: ['metrics'],
  'model-agent': ['ai'],
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

/** The files that touch a room; a folder stands for all in it. */
export function testsOf(room: string): string[] {
  const contracts = (CONTRACTS[room] ?? []).map(name => `test/runtimes/${name}.test.ts`)
  // The folder of the contracts is not that of a room.
  return room === 'runtimes' ? contracts : [`test/${room}/`, ...contracts]
}
