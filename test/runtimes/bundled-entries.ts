/**
 * The servers of the tests as single files. They are bundled at once, by the first test file that needs one, so that no module is read
 * and parsed for each of them.
 */
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process from 'node:process'
import { type BuildOptions, build } from 'esbuild'
import { once, RUN_FOLDER } from '../once.ts'
import { AS_DEPLOYED } from './as-deployed.ts'
import { isServer, isService, nameOf, programOf, services } from './listeners.ts'
import { root } from './process.ts'

const ENTRIES = 'test/runtimes/entries/'

/** Bundles all entries of a runtime into a folder, once. Undefined for other files, and for benchmarks: they bundle what they measure. */
async function bundled(entry: string, names: RegExp, options: BuildOptions): Promise<string | undefined> {
  const isOurs = isService(entry) || (entry.startsWith(ENTRIES) && names.test(basename(entry)))
  if (!isOurs || process.env[RUN_FOLDER] === undefined) return undefined
  const folder = await once(`entries for ${options.platform ?? 'workerd'}`, async outdir => {
    const all = await readdir(join(root, ENTRIES))
    // Some servers have a program of their own beside them.
    const hasProgram = (name: string) =>
      isServer(ENTRIES + name) && all.includes(name.replace('-server.ts', '-node.ts'))
    const own = all.filter(name => names.test(name) && !hasProgram(name)).map(name => ENTRIES + name)
    const kind = options.platform === 'node' ? 'node' : 'workerd'
    const named = await Promise.all(
      [...own, ...(await services(kind))].map(async file => ({
        in: await programOf(file, kind),
        out: nameOf(file),
      })),
    )
    await build({ ...options, entryPoints: named, outdir, write: true })
  })
  return join(folder, `${nameOf(entry)}.js`)
}

/** An entry for workerd as a deploy bundles it. */
export function workerEntry(entry: string): Promise<string | undefined> {
  return bundled(entry, /(^|-)workerd\.ts$|^(store|run-host)\.ts$/, AS_DEPLOYED)
}

/**
 * An entry for Node. Its start takes half the CPU time of one that finds, strips and links some 300 modules, and there are 400 starts.
 * The tests of the packed library load the modules themselves.
 */
export function nodeEntry(entry: string): Promise<string | undefined> {
  return bundled(entry, /(^|-)(node|server)\.ts$/, {
    absWorkingDir: root,
    bundle: true,
    // What several of them import is a file of its own.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    packages: 'external',
    logLevel: 'silent',
  })
}
