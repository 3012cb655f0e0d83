import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from './process.ts'

/** Bundles a Worker's entry into one module, the way that a deploy does. */
export async function bundleWorker(entry: string, options: { minify?: boolean } = {}): Promise<string> {
  const result = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['browser', 'module', 'main'],
    external: ['cloudflare:*', 'node:*'],
    minify: options.minify ?? false,
    // As wrangler does in a deploy; esbuild by itself would put `development` there.
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  return result.outputFiles[0]?.text ?? ''
}

/** Compatibility date and flags, as wrangler.toml states them. */
async function compatibility(): Promise<{ date: string; flags: string[] }> {
  const toml = await readFile(join(root, 'wrangler.toml'), 'utf8')
  const date = /^compatibility_date = "(.+)"$/m.exec(toml)?.[1]
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(toml)?.[1]
  if (!date || !flags) throw new Error('wrangler.toml states no compatibility date or flags')
  return { date, flags: JSON.parse(flags) }
}

// A JSON string is also a string of workerd's configuration language.
const quote = JSON.stringify

async function config(vars: Record<string, string>): Promise<string> {
  const { date, flags } = await compatibility()
  const bindings = Object.entries(vars).map(
    ([name, text]) => `(name = ${quote(name)}, text = ${quote(text)})`,
  )
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = ${quote(date)},
  compatibilityFlags = [${flags.map(flag => quote(flag)).join(', ')}],
  bindings = [${bindings.join(', ')}]
);
`
}

/** Writes what `workerd serve` needs into a folder of its own. */
export async function writeWorker(
  entry: string,
  vars: Record<string, string> = {},
): Promise<{ configPath: string; remove(): Promise<void> }> {
  const code = await bundleWorker(entry)
  const folder = await mkdtemp(join(tmpdir(), 'servable-worker-'))
  const configPath = join(folder, 'config.capnp')
  await writeFile(join(folder, 'worker.js'), code)
  await writeFile(configPath, await config(vars))
  return { configPath, remove: () => rm(folder, { recursive: true, force: true }) }
}
