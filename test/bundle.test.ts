/** What an application that imports the core carries. */
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { root } from './runtimes/process.ts'

/** The rooms and packages in a bundle. */
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
  const parts = Object.keys(metafile.inputs).map(
    path => /^(src|node_modules\/@[^/]+|node_modules)\/[^/]+/.exec(path)?.[0],
  )
  return new Set(parts.filter(part => part !== undefined))
}

const OPTIONAL = ['src/model-agent', 'src/mcp-client', 'src/adapters', 'src/client', 'src/signing']
const PACKAGES = ['node_modules/valibot', 'node_modules/@valibot/to-json-schema', 'node_modules/itty-router']

describe('a bundle', () => {
  it.each([
    ['the core', 'src/index.ts', PACKAGES],
    ['a Worker with every built-in part', 'bench/worker/index.ts', PACKAGES],
    ['the adapters', 'src/adapters/index.ts', []],
    ['the client', 'src/client/index.ts', ['node_modules/eventsource-parser']],
  ])('of %s holds none of the optional parts and packages', async (_, entry, packages) => {
    const parts = await partsOf(entry)
    expect([...parts].filter(part => part.startsWith('node_modules/')).sort()).toEqual([...packages].sort())
    const own = OPTIONAL.filter(room => entry.startsWith(room))
    expect(OPTIONAL.filter(room => parts.has(room))).toEqual(own)
  })

  it.each([
    ['a2a', 'src/a2a/plugin.ts', false],
    ['metrics', 'src/metrics/plugin.ts', false],
    ['corrections', 'src/plugins/corrections.ts', false],
    // These show JSON Schema of tools themselves.
    ['admin', 'src/admin/plugin.ts', true],
    ['tools', 'src/plugins/tools.ts', true],
  ])('of the plugin %s describes it without what makes the document', async (_, entry, showsTools) => {
    const parts = await partsOf(entry)
    expect(parts.has('src/openapi')).toBe(false)
    expect(parts.has('node_modules/@valibot/to-json-schema')).toBe(showsTools)
  })
})
