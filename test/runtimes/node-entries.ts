/**
 * The servers of the tests for Node, each as one file. Node then starts in half the CPU time, since it need not find, strip and link
 * some 300 modules, and there are 400 starts. The modules themselves are loaded by Node in the tests of the packed library.
 */
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { once, RUN_FOLDER } from '../once.ts'
import { root } from './process.ts'

const ENTRIES = 'test/runtimes/entries/'
const OF_NODE = /(^|-)node\.ts$/

async function bundleInto(folder: string): Promise<void> {
  const names = await readdir(join(root, ENTRIES))
  await build({
    absWorkingDir: root,
    entryPoints: names.filter(name => OF_NODE.test(name)).map(name => ENTRIES + name),
    outdir: folder,
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

/** Where an entry is bundled, and where Node keeps what it compiles of it. Bundles all of them for the first who asks. */
export async function nodeEntry(entry: string): Promise<{ file: string; env: Record<string, string> }> {
  const isBundled = entry.startsWith(ENTRIES) && OF_NODE.test(entry)
  // Benchmarks measure the modules as they are.
  if (!isBundled || process.env[RUN_FOLDER] === undefined) return { file: entry, env: {} }
  const folder = await once('node-entries', bundleInto)
  const file = join(folder, `${basename(entry, '.ts')}.js`)
  return { file, env: { NODE_COMPILE_CACHE: join(folder, 'compiled') } }
}
