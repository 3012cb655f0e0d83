/** What an application carries that imports one of the entries. */
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { figures } from '../../bench/prices.ts'
import { AS_DEPLOYED } from '../runtimes/as-deployed.ts'
import { programOf } from '../runtimes/listeners.ts'
import { root } from '../runtimes/process.ts'
import { BUNDLES, bundle } from './bundles.ts'

/** The rooms and packages among the inputs of a bundle. */
function partsIn(inputs: Readonly<Record<string, unknown>>): Set<string> {
  const parts = Object.keys(inputs).map(
    path =>
      /^(src\/(protocols|features|adapters)|src|node_modules\/@[^/]+|node_modules)\/[^/]+/.exec(path)?.[0],
  )
  return new Set(parts.filter(part => part !== undefined))
}

async function partsOf(entry: string): Promise<Set<string>> {
  const { metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd', 'worker'],
    external: ['cloudflare:*', 'node:*'],
    metafile: true,
    logLevel: 'silent',
  })
  return partsIn(metafile.inputs)
}

const OPTIONAL = [
  'src/adapters/model-agent',
  'src/adapters/mcp-client',
  'src/adapters/a2a-client',
  'src/adapters/frameworks',
  'src/client',
  'src/protocols/signing',
  'src/features/jwt',
]
const PACKAGES = ['node_modules/valibot', 'node_modules/@valibot/to-json-schema', 'node_modules/itty-router']

describe('a bundle', () => {
  it.each([
    ['`servable`', 'src/index.ts', PACKAGES],
    ['a Worker with every built-in part', 'bench/worker/index.ts', PACKAGES],
    ['the adapters', 'src/adapters/frameworks/index.ts', []],
    ['the client', 'src/client/index.ts', ['node_modules/eventsource-parser']],
  ])('of %s holds none of the optional parts and packages', async (_, entry, packages) => {
    const parts = await partsOf(entry)
    expect([...parts].filter(part => part.startsWith('node_modules/')).sort()).toEqual([...packages].sort())
    const own = OPTIONAL.filter(room => entry.startsWith(room))
    expect(OPTIONAL.filter(room => parts.has(room))).toEqual(own)
  })

  it.each(BUNDLES.map(one => [one.name, one] as const))('of %s is within its price', async (_, one) => {
    const { kib } = await bundle(one)
    expect(kib).toBeLessThanOrEqual(one.limit)
    // A limit that nobody comes near holds nothing.
    expect(kib).toBeGreaterThan(one.limit * 0.97)
    // The page of prices, which `node bench/bundles.ts` renews.
    const told = (figures().bundles[one.name]?.gzip ?? 0) / 1024
    expect(Math.abs(told - kib) / kib).toBeLessThan(0.01)
  })

  it.each([
    ['production', false],
    ['development', true],
  ])('of a Worker in %s has the readable log: %s', async (environment, isReadable) => {
    const { metafile } = await build({
      ...AS_DEPLOYED,
      entryPoints: [await programOf('test/runtimes/entries/logs-server.ts', 'workerd')],
      define: { 'process.env.NODE_ENV': `"${environment}"` },
      metafile: true,
      logLevel: 'silent',
    })
    const [output] = Object.values(metafile.outputs)
    expect((output?.inputs['src/features/logs/pretty.ts']?.bytesInOutput ?? 0) > 0).toBe(isReadable)
  })

  it('of the core holds no plugin', async () => {
    const [core] = BUNDLES
    const { metafile } = await bundle(core!)
    const kept = Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
        bytesInOutput > 0 ? [[path, 1] as const] : [],
      ),
    )
    expect([...partsIn(Object.fromEntries(kept))].sort()).toEqual([
      'node_modules/itty-router',
      'node_modules/valibot',
      'src/agents',
      'src/base',
      'src/core',
      'src/http',
      'src/runs',
      'src/web',
    ])
  })

  it.each([
    ['a2a', 'src/protocols/a2a/plugin.ts', false],
    ['metrics', 'src/features/metrics/plugin.ts', false],
    ['corrections', 'src/features/small/corrections.ts', false],
    // These show JSON Schema of tools themselves.
    ['admin', 'src/features/admin/plugin.ts', true],
    ['tools', 'src/features/small/tools.ts', true],
  ])('of the plugin %s describes it without what makes the document', async (_, entry, showsTools) => {
    const parts = await partsOf(entry)
    expect(parts.has('src/protocols/openapi')).toBe(false)
    expect(parts.has('node_modules/@valibot/to-json-schema')).toBe(showsTools)
  })
})
