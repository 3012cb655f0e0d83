import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { AS_DEPLOYED } from './as-deployed.ts'
import { workerEntry } from './bundled-entries.ts'
import { programOf } from './listeners.ts'
import { root } from './process.ts'

/** What was bundled, by entry: most tests start the same Worker several times. */
const bundled = new Map<string, Promise<string>>()

/** Bundles a Worker's entry, once in a process. */
export function bundleWorker(entry: string, { minify = false }: { minify?: boolean } = {}): Promise<string> {
  const key = `${minify} ${entry}`
  const known = bundled.get(key) ?? bundle(entry, minify)
  bundled.set(key, known)
  return known
}

async function bundle(entry: string, minify: boolean): Promise<string> {
  const file = minify ? undefined : await workerEntry(entry)
  if (file !== undefined) return readFile(file, 'utf8')
  const { outputFiles } = await build({
    ...AS_DEPLOYED,
    entryPoints: [await programOf(entry, 'workerd')],
    minify,
  })
  return outputFiles[0]?.text ?? ''
}

/** Compatibility date and flags from wrangler.toml. */
async function compatibility(): Promise<{ date: string; flags: string[] }> {
  const toml = await readFile(join(root, 'wrangler.toml'), 'utf8')
  const date = /^compatibility_date = "(.+)"$/m.exec(toml)?.[1]
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(toml)?.[1]
  if (!date || !flags) throw new Error('wrangler.toml states no compatibility date or flags')
  return { date, flags: JSON.parse(flags) }
}

// A JSON string is also a valid string in workerd's configuration language.
const quote = JSON.stringify

/** The Durable Object classes that wrangler.toml binds, by the names of their bindings. */
async function durableObjects(code: string): Promise<[binding: string, className: string][]> {
  const toml = await readFile(join(root, 'wrangler.toml'), 'utf8')
  const bound = [...toml.matchAll(/^name = "(SERVABLE_\w+)"\nclass_name = "(\w+)"$/gm)]
  // Some Workers of the tests do not export them.
  return bound.flatMap(([, name = '', className = '']) =>
    new RegExp(`\\b${className}\\b[^;]*\\bexport\\b|\\bexport\\b[^;]*\\b${className}\\b`).test(code)
      ? [[name, className]]
      : [],
  )
}

async function config(
  code: string,
  storage: string,
  vars: Record<string, string>,
  own: Record<string, string>,
  hasSecond: boolean,
): Promise<string> {
  const { date, flags } = await compatibility()
  const objects = [...(await durableObjects(code)), ...Object.entries(own)]
  const bindingsWith = (service: string) =>
    [
      ...Object.entries(vars).map(([name, text]) => `(name = ${quote(name)}, text = ${quote(text)})`),
      ...objects.map(
        ([name, className]) =>
          `(name = ${quote(name)}, durableObjectNamespace = (className = ${quote(className)}${service}))`,
      ),
    ].join(', ')
  const namespaces = objects.map(
    ([, className]) => `(className = ${quote(className)}, uniqueKey = ${quote(className)}, enableSql = true)`,
  )
  // It runs in a separate isolate, and shares only the Durable Objects with the first one.
  const second = `
const second :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = ${quote(date)},
  compatibilityFlags = [${flags.map(flag => quote(flag)).join(', ')}],
  bindings = [${bindingsWith(', serviceName = "main"')}]
);
`
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    ${hasSecond ? '(name = "second", worker = .second),' : ''}
    (name = "internet", network = (allow = ["public", "private", "local"])),
    (name = "storage", disk = (path = ${quote(storage)}, writable = true))
  ],
  sockets = [
    ${hasSecond ? '(name = "second", address = "127.0.0.1:0", http = (), service = "second"),' : ''}
    (name = "http", address = "127.0.0.1:0", http = (), service = "main")
  ]
);
${hasSecond ? second : ''}
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = ${quote(date)},
  compatibilityFlags = [${flags.map(flag => quote(flag)).join(', ')}],
  bindings = [${bindingsWith('')}],
  durableObjectNamespaces = [${namespaces.join(', ')}],
  durableObjectStorage = (localDisk = "storage")
);
`
}

/** How a Worker is written. */
interface WorkerOptions {
  readonly vars?: Record<string, string> | undefined
  /** The folder of Durable Objects. Default: the Worker's own folder. */
  readonly storage?: string | undefined
  /** The entry's own classes, by the names of their bindings. */
  readonly objects?: Record<string, string> | undefined
  /** Whether the Worker also runs in a second isolate. */
  readonly hasSecond?: boolean
  readonly minify?: boolean
}

/** Writes the files for `workerd serve` into a new folder. */
export async function writeWorker(
  entry: string,
  { vars = {}, storage, objects = {}, hasSecond = false, minify = false }: WorkerOptions = {},
): Promise<{ configPath: string; remove(): Promise<void> }> {
  const code = await bundleWorker(entry, { minify })
  const folder = await mkdtemp(join(tmpdir(), 'servable-worker-'))
  const configPath = join(folder, 'config.capnp')
  await writeFile(join(folder, 'worker.js'), code)
  const disk = storage ?? join(folder, 'storage')
  await mkdir(disk, { recursive: true })
  await writeFile(configPath, await config(code, disk, vars, objects, hasSecond))
  return { configPath, remove: () => rm(folder, { recursive: true, force: true }) }
}
