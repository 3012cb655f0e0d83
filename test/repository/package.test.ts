// @module-tag long
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deadLinks, linksOf } from '../../.ci/docs.ts'
import { homeOf, withAbsoluteLinks } from '../../.ci/pack.ts'
import { VERSION } from '../../src/http/version.ts'
import { copyInto, type Packed, pack } from './packing.ts'

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

const root = fileURLToPath(new URL('../../', import.meta.url))
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
    const a2a = '@a2a-js/sdk'
    const {
      [client]: version,
      [a2a]: sdk,
      ai,
      croner,
      jose,
      postgres,
      '@ai-sdk/openai-compatible': compatible,
    } = manifest.devDependencies
    const isOtel = ([name]: readonly [string, string]) => name.startsWith('@opentelemetry/')
    const otel = Object.fromEntries(Object.entries(manifest.devDependencies).filter(isOtel))
    // Of these, only the interface of OpenTelemetry is not for tests alone, which Deno runs.
    const forTests = { '@ai-sdk/openai-compatible': compatible, ...otel }
    const optional = { [client]: version, [a2a]: sdk, ai, croner, jose, postgres, ...forTests }
    const used = { ...manifest.dependencies, ...optional }
    const imports = Object.entries(used).map(([name, version]) => [name, `npm:${name}@${version}`])
    const parts = {
      [`${client}/stdio`]: `npm:${client}@${used[client]}/stdio`,
      [`${a2a}/client`]: `npm:${a2a}@${used[a2a]}/client`,
    }
    expect(deno.imports).toEqual({ ...Object.fromEntries(imports), ...parts })
  })

  test('pin every version', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest
    for (const [name, version] of Object.entries({
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
    })) {
      // An alias names its package before the version.
      expect(version, name).toMatch(/^(npm:(@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/)
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

  const packedManifest = async () => JSON.parse(await textIn(tarball, 'package.json'))

  test('leaves the manifest of the repository as it was', async () => {
    const before = await readFile(join(root, 'package.json'), 'utf8')
    expect(await readFile(join(folder, 'package.json'), 'utf8')).toBe(before)
  })

  test('holds what it exports, and nothing but built files, pages, files to deploy with, and licence', async () => {
    const exported = Object.values(manifest.exports).flatMap(conditions => Object.values(conditions))
    expect(listed).toEqual(expect.arrayContaining(exported.map(path => path.replace('./', 'package/'))))
    const other = listed.filter(path => !/^package\/dist\/.+\.(js|d\.ts)$/.test(path))
    const texts = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json']
    const read = (path: string) => readdir(join(root, path), { recursive: true, withFileTypes: true })
    const entries = [...(await read('docs')), ...(await read('deploy'))]
    const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
    const pages = files
      .map(path => path.replace(root, ''))
      .filter(path => !/^docs\/(why|\.site)\/|\.png$/.test(path))
    expect(other.sort()).toEqual([...texts, ...pages].map(name => `package/${name}`).sort())
  })

  test('has pages whose links lead to what is packed, as no repository is stated', async () => {
    const pages = listed.filter(path => path.endsWith('.md')).map(path => path.replace('package/', ''))
    const texts = new Map<string, string>()
    for (const page of pages) texts.set(page, await textIn(tarball, page))
    expect(linksOf(texts.get('README.md') ?? '')).toContain('docs/build/models.md')
    const unlinked = [...texts].filter(([, text]) => /[("]nowhere:/.test(text)).map(([page]) => page)
    expect(unlinked).toEqual([])
    const isPacked = (path: string) =>
      listed.some(packed => packed === `package/${path}` || packed.startsWith(`package/${path}/`))
    expect(deadLinks(texts, isPacked)).toEqual([])
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

  test('has nothing that publint reports, as has the tarball of create-servable', async () => {
    for (const path of [tarball, packed.creator]) {
      const { stdout } = await run('publint', ['--strict', path], { cwd: folder })
      expect(stdout).toContain('All good!')
    }
  })

  test('comes with one of create-servable, which needs no other package', async () => {
    const { stdout } = await run('tar', ['-xzOf', packed.creator, 'package/package.json'])
    const { version, dependencies, scripts, devDependencies } = JSON.parse(stdout)
    expect(version).toBe(manifest.version)
    expect({ dependencies, scripts, devDependencies }).toEqual({})
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

describe('the tarball that is published', () => {
  let folder: string
  let packed: Packed
  const script = (name: string) => run('npm', ['run', '--silent', name], { cwd: folder })
  const stateRepository = async (repository: object | undefined) => {
    const text = JSON.stringify({ ...manifest, repository }, null, 2)
    await writeFile(join(folder, 'package.json'), text)
    return text
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'servable-published-'))
    packed = await copyInto(folder)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('has a README that links to the repository, and changes nothing outside the tarball', async () => {
    const stated = await stateRepository({ type: 'git', url: 'git+https://git.example.com/some/one.git' })
    await script('tarball')
    const text = await textIn(packed.tarball, 'README.md')
    expect(linksOf(text)).toEqual([])
    const at = 'https://git.example.com/some/one'
    const addresses = [...text.matchAll(/https:\/\/git\.example\.com\/some\/one\/[^)"\s]+/g)].map(String)
    expect(addresses).toContain(`${at}/raw/HEAD/docs/why/architecture-dark.svg`)
    expect(addresses).toContain(`${at}/tree/HEAD/docs/why/decisions`)
    const readme = await readFile(join(root, 'README.md'), 'utf8')
    const paths = addresses.map(address => address.replace(/^.*?\/HEAD\//, ''))
    expect(paths).toEqual(linksOf(readme))

    expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe(readme)
    expect(await readFile(join(folder, 'package.json'), 'utf8')).toBe(stated)
  })

  test('has pages that link to each other, and to the repository for what is not packed', async () => {
    const links = linksOf(await textIn(packed.tarball, 'docs/README.md'))
    expect(links).toContain('run/deploy.md')
    for (const link of links) expect(posix.normalize(`docs/${link}`)).not.toMatch(/^examples/)
  })

  test('is the only one that npm packs and publishes', async () => {
    for (const place of ['.', 'create-servable'])
      await expect(run('npm', ['pack'], { cwd: join(folder, place) })).rejects.toMatchObject({
        stderr: expect.stringContaining('npm run tarball'),
      })
  })
})

describe('links to a repository', () => {
  const look = { targetOf: () => undefined, isFolder: (path: string) => !path.includes('.') }
  const linked = (text: string, repository: string | object, path = 'README.md') =>
    withAbsoluteLinks({ path, text }, homeOf({ repository }), look)

  test('begin in the folder of the package', () => {
    const repository = { url: 'https://git.example.com/some/one', directory: 'packages/servable' }
    const page = '[a](docs/a.md#b) ![c](c.png) [d](docs) [e](#e) [f](https://f.example.com) `[g](g.md)`'
    const at = 'https://git.example.com/some/one'
    expect(linked(page, repository)).toBe(
      `[a](${at}/blob/HEAD/packages/servable/docs/a.md#b) ![c](${at}/raw/HEAD/packages/servable/c.png) ` +
        `[d](${at}/tree/HEAD/packages/servable/docs) [e](#e) [f](https://f.example.com) \`[g](g.md)\``,
    )
  })

  test('begin in the folder of their page', () => {
    const at = 'https://git.example.com/some/one'
    expect(linked('[a](../bench/a.md)', `${at}.git`, 'docs/b.md')).toBe(`[a](${at}/blob/HEAD/bench/a.md)`)
  })

  test('are left out without one, where they lead to what is not packed', () => {
    const page = '<picture>\n<img src="c.png">\n</picture>\n\n[a](docs/a.md) ![c](c.png)[e](#e) `[g](g.md)`'
    expect(withAbsoluteLinks({ path: 'README.md', text: page }, undefined, look)).toBe(
      'a [e](#e) `[g](g.md)`',
    )
  })

  test.each(['', 'git@git.example.com:some/one.git', 'some/one'])('need an address on the web (%s)', url => {
    expect(() => homeOf({ repository: { url } })).toThrow('`repository`')
  })
})

async function textIn(tarball: string, path: string): Promise<string> {
  return (await run('tar', ['-xzOf', tarball, `package/${path}`])).stdout
}

/** Every key and every word of every value of a JSON document. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/\s+/)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...wordsOf(inner)])
}
