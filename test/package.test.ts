import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../src/http/version.ts'
import { type Packed, pack } from './packing.ts'

interface Manifest {
  name: string
  version: string
  exports: Record<string, { types: string; default: string }>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  peerDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}
interface DenoConfig extends Pick<Manifest, 'name' | 'version'> {
  exports: Record<string, string>
  imports: Record<string, string>
}

const root = fileURLToPath(new URL('../', import.meta.url))
const run = promisify(execFile)
const read = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T

const manifest = await read<Manifest>(join(root, 'package.json'))
const deno = await read<DenoConfig>(join(root, 'deno.json'))

describe('package.json and deno.json', () => {
  test('name the same package', () => {
    expect([deno.name, deno.version]).toEqual([manifest.name, manifest.version])
  })

  test('have the version that the code tells', () => {
    expect(VERSION).toBe(manifest.version)
  })

  test('have a version that the change log begins with', async () => {
    const log = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
    const [, newest] = /^## (\S+) - \d{4}-\d\d-\d\d$/m.exec(log) ?? []
    expect(newest).toBe(manifest.version)
  })

  test('export the same files, which exist', () => {
    const built = Object.entries(deno.exports).map(([subpath, source]) => {
      expect(existsSync(join(root, source)), source).toBe(true)
      const path = source.replace('./src/', './dist/').replace(/\.ts$/, '')
      return [subpath, { types: `${path}.d.ts`, default: `${path}.js` }]
    })
    expect(manifest.exports).toEqual(Object.fromEntries(built))
  })

  test('put types first, as resolvers take the first condition that matches', () => {
    for (const conditions of Object.values(manifest.exports)) {
      expect(Object.keys(conditions)).toEqual(['types', 'default'])
    }
  })

  test('depend on the same packages in the same versions', () => {
    const client = '@modelcontextprotocol/client'
    const { [client]: version, ai, jose, '@ai-sdk/openai-compatible': compatible } = manifest.devDependencies
    // The last one is for a test that Deno runs.
    const optional = { [client]: version, ai, jose, '@ai-sdk/openai-compatible': compatible }
    const used = { ...manifest.dependencies, ...optional }
    const imports = Object.entries(used).map(([name, version]) => [name, `npm:${name}@${version}`])
    const stdio = { [`${client}/stdio`]: `npm:${client}@${used[client]}/stdio` }
    expect(deno.imports).toEqual({ ...Object.fromEntries(imports), ...stdio })
  })

  test('pin every version', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest
    for (const [name, version] of Object.entries({
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
    })) {
      // An alias names its package before the version.
      expect(version, name).toMatch(/^(npm:@[\w-]+\/[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/)
    }
  })
})

describe('the packed tarball', () => {
  let packed: Packed
  let folder: string
  let tarball: string
  let listed: string[]

  beforeAll(async () => {
    packed = await pack()
    folder = packed.folder
    tarball = packed.tarball
    listed = (await run('tar', ['-tzf', tarball])).stdout.trim().split('\n')
  })
  afterAll(() => packed?.remove())

  const packedManifest = async () =>
    JSON.parse((await run('tar', ['-xzOf', tarball, 'package/package.json'])).stdout)

  test('leaves the manifest of the repository as it was', async () => {
    const before = await readFile(join(root, 'package.json'), 'utf8')
    expect(await readFile(join(folder, 'package.json'), 'utf8')).toBe(before)
    expect(existsSync(join(folder, '.ci/package.json.whole'))).toBe(false)
  })

  test('holds what it exports, and nothing but built files, README, change log and licence', () => {
    const exported = Object.values(manifest.exports).flatMap(conditions => Object.values(conditions))
    expect(listed).toEqual(expect.arrayContaining(exported.map(path => path.replace('./', 'package/'))))
    const other = listed.filter(path => !/^package\/dist\/.+\.(js|d\.ts)$/.test(path))
    const texts = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
    expect(other.sort()).toEqual(texts.map(name => `package/${name}`))
  })

  test('names no package of the toolchain in its manifest', async () => {
    const packed = await packedManifest()
    expect(packed.dependencies).toEqual(manifest.dependencies)
    const words = new Set(wordsOf(packed))
    const { devDependencies, optionalDependencies, dependencies, peerDependencies } = manifest
    for (const name of Object.keys({ ...devDependencies, ...optionalDependencies })) {
      // What an application may bring is named for it.
      const isForUsers = name in dependencies || name in peerDependencies
      if (!isForUsers) expect(words.has(name), name).toBe(false)
    }
  })

  test('has nothing that publint reports', async () => {
    const { stdout } = await run('publint', ['--strict', tarball], { cwd: folder })
    expect(stdout).toContain('All good!')
  })

  test('has types that every ESM resolver finds', async () => {
    // It fails by its exit code; that each subpath was looked at, its answer tells.
    const args = [tarball, '--profile', 'esm-only', '--format', 'json']
    const { stdout } = await run('attw', args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
    const { entrypoints } = JSON.parse(stdout).analysis
    for (const subpath of Object.keys(manifest.exports)) {
      const { 'node16-esm': node, bundler } = entrypoints[subpath].resolutions
      expect([node.resolution?.isTypeScript, bundler.resolution?.isTypeScript]).toEqual([true, true])
    }
  })
})

/** Every key and every word of every value of a JSON document. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/\s+/)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...wordsOf(inner)])
}
