/** The programs that serve a handler: one a runtime. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { root } from './process.ts'

/** `evicted`: a Worker that counts how often the objects of its runs were made, and says so at `/made`. */
export type ProgramKind = 'node' | 'bun' | 'deno' | 'workerd' | 'evicted'

const FOLDER = 'test/.tmp/listeners'

/** Which classes the Worker of a service exports: those that it needs, so that a deploy without the others is tested. */
function classesOf(service: string): string {
  const runs = 'ServableRun, ServableIndex'
  if (['a2a', 'a2a-client', 'command', 'files', 'mcp', 'roles', 'runs', 'sessions'].includes(service))
    return runs
  const isMetered = ['admin', 'ai', 'console', 'metrics'].includes(service)
  return `${runs}, ServableGateway${isMetered ? ', ServableMetrics' : ''}`
}

/** The state of Workers with numbers of objects of their own. Limits for all clients together need a single object. */
const STATES: Readonly<Record<string, string>> = {
  gateway: `durableState({ gateways: SETTINGS === 'narrow' ? 1 : 3 })`,
  metrics: 'durableState({ gateways: 2, metrics: 3 })',
  roles: 'durableState({ listsAll: true })',
  command: 'durableState({ listsAll: true })',
}

/** The name of the service whose handler is made by a file of `contracts`, if `entry` is one. */
const serviceOf = (entry: string): string | undefined =>
  /^test\/contracts\/(.+)\/service\.ts$/.exec(entry)?.[1]

const workerOf = (service: string): string => `import { env } from 'cloudflare:workers'
import { durableObjects, durableState, worker } from '../../../src/runtimes/cloudflare.ts'
import { handlerOn } from '../../contracts/${service}/service.ts'

const { SETTINGS } = env
const handler = handlerOn(${STATES[service] ?? 'durableState()'}, SETTINGS)

export default { fetch: worker(handler) }
export const { ${classesOf(service)} } = durableObjects(handler)
`

/** A Worker, whose objects of runs are counted. */
const countedOf = (
  service: string,
): string => `import { counted, counting } from '../../runtimes/entries/counting.ts'
${workerOf(service)
  .replace('{ fetch: worker(handler) }', 'counting(worker(handler))')
  .replace('{ ServableRun,', '{ ServableRun: Run,')}
export const ServableRun = counted(Run)
`

/** The handler of a service on its state: in the file DATABASE if that is set, else in memory. */
const handlerOf = (
  service: string,
): string => `import { handlerOn } from '../../contracts/${service}/service.ts'
import { stateAt } from '../../runtimes/entries/state.ts'

const { DATABASE, SETTINGS } = process.env
const own = { handler: handlerOn(await stateAt(DATABASE), SETTINGS) }`

/** A Worker without Durable Objects. */
const plainWorkerOf = (from: string): string => `import { worker } from '../../../src/runtimes/cloudflare.ts'
import { handler } from ${from}

export default { fetch: worker(handler) }
`

/**
 * The program, as the author of a server writes it. It names the file, since Deno may read only what a program imports by name.
 * An entry may have a `tell`, which says itself that it listens.
 */
const serverOf = (runtime: string, own: string): string => `import process from 'node:process'
import { serve } from '../../../src/runtimes/${runtime}.ts'
${own}

const { handler, tell = ({ url }) => console.log(\`listening \${url}\`) } = own
tell(await serve(handler, { port: Number(process.env.PORT) }))
`

/** The program of an entry, if it has none of its own. */
function textOf(entry: string, kind: ProgramKind): string | undefined {
  const service = serviceOf(entry)
  if (service && kind === 'workerd') return workerOf(service)
  if (service && kind === 'evicted') return countedOf(service)
  if (service) return serverOf(kind, handlerOf(service))
  if (!isServer(entry)) return undefined
  const from = `'../../runtimes/entries/${basename(entry)}'`
  return kind === 'workerd' ? plainWorkerOf(from) : serverOf(kind, `import * as own from ${from}`)
}

/** Whether an entry has a handler alone. */
export const isServer = (entry: string): boolean =>
  entry.startsWith('test/runtimes/entries/') && entry.endsWith('-server.ts')

/** Whether an entry is a service, which makes a handler from a state. */
export const isService = (entry: string): boolean => serviceOf(entry) !== undefined

/** The name of an entry, which no other entry has. */
export const nameOf = (entry: string): string => serviceOf(entry) ?? basename(entry, '.ts')

/** Writes the program of an entry for a runtime, and returns its path. Other entries are programs already. */
export async function programOf(entry: string, kind: ProgramKind): Promise<string> {
  const text = textOf(entry, kind)
  if (text === undefined) return entry
  const path = `${FOLDER}/${nameOf(entry).replace(/-server$/, '')}-${kind}.ts`
  await mkdir(join(root, FOLDER), { recursive: true })
  // Other test files may be reading it.
  const draft = join(root, `${path}.${crypto.randomUUID()}`)
  await writeFile(draft, text)
  await rename(draft, join(root, path))
  return path
}

/** The entry of a service: what is special to a runtime, or the service, which is served alike everywhere. */
export function entryOf(service: string, runtime: string): string {
  const own = `test/runtimes/entries/${service}-${runtime === 'workerd' ? 'workerd' : 'server'}.ts`
  return existsSync(join(root, own)) ? own : `test/contracts/${service}/service.ts`
}

/** The services of the contracts that a runtime serves without an entry of its own. */
export async function services(runtime: string): Promise<string[]> {
  const names = await readdir(join(root, 'test/contracts'))
  const found = await Promise.all(
    names.map(async name => {
      const file = entryOf(name, runtime)
      const text = isService(file) ? await readFile(join(root, file), 'utf8').catch(() => '') : ''
      return text.includes('export function handlerOn(') ? [file] : []
    }),
  )
  return found.flat()
}
