/**
 * The packed library, as a project of its user's has it: installed, run and type-checked.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonRequest } from '../contracts/http/client.ts'
import { onDisk } from '../contracts/run-host/folder.ts'
import { snippetOf } from '../pages/pages.ts'
import { pack } from '../repository/packing.ts'
import { denoPath } from './harness.ts'
import { root, start } from './process.ts'
import { type Registry, startRegistry } from './registry.ts'

const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))

/** Without what npm puts before it: the machine's own Node comes first. */
const ownPath = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(folder => !folder.endsWith('node_modules/.bin'))
  .join(delimiter)
const run = promisify(execFile)
const ownNode = await run('node', ['-p', 'process.versions.node + process.execPath'], {
  env: { PATH: ownPath },
})
const [, ownVersion = '', ownNodePath = ''] = /^([\d.]+)\S*?(\/.*)$/m.exec(ownNode.stdout) ?? []

/** What `>=22.13.0` says, as a number that can be compared: 22.013. */
function oldest(range: string): number {
  const [, major, minor = 0] = /^>=\s*(\d+)(?:\.(\d+))?(?:\.0)?$/.exec(range) ?? []
  return Number(major) + Number(minor) / 1000
}

let registry: Registry
let folder: string
const project = (name: string) => join(folder, name)

beforeAll(async () => {
  registry = await startRegistry((await pack()).tarball)
  folder = await mkdtemp(join(onDisk(), 'servable-installed-'))
  await Promise.all([installWithNpm(), installWithBun(), installWithDeno()])
})
afterAll(async () => {
  await registry?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** An empty project with snippets of the pages in it. */
async function newProject(name: string, serves: string): Promise<string> {
  const path = project(name)
  await mkdir(path)
  if (name !== 'deno') await writeFile(join(path, 'package.json'), '{ "private": true, "type": "module" }')
  const files = { 'agent.ts': 'agent.ts', 'server.ts': 'server.ts', 'bare.ts': serves }
  for (const [file, snippet] of Object.entries(files)) {
    const text = snippetOf(snippet).replace('port: 3000', 'port: 0')
    await writeFile(join(path, file), text.replace('servable/node', `servable/${name}`))
  }
  // Its agent is in the registry.
  await writeFile(join(path, 'agents.ts'), "import './agent.ts'\nexport {}\n")
  return path
}

async function install(cwd: string, command: string, args: string[], more = {}): Promise<void> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_config_registry$/i.test(name))
  const env = { ...Object.fromEntries(inherited), NPM_CONFIG_REGISTRY: registry.url, PATH: ownPath, ...more }
  await run(command, args, { cwd, env }).catch(error => {
    throw new Error(`${command} ${args.join(' ')}: ${error.stdout}${error.stderr}`)
  })
}

async function installWithNpm(): Promise<void> {
  const path = await newProject('node', 'server.ts')
  await install(path, 'npm', ['install', manifest.name, '--no-audit', '--no-fund', '--prefer-offline'])
  const entryPoints = [join(path, 'server.ts')]
  await build({ entryPoints, outdir: path, bundle: true, packages: 'external', format: 'esm' })
}

// These two know a package by its version alone, so that a cache of theirs would answer with an earlier tarball.
async function installWithBun(): Promise<void> {
  const path = await newProject('bun', 'deploy-bare-bun.ts')
  const env = { BUN_INSTALL_CACHE_DIR: join(folder, 'bun-cache') }
  await install(path, join(root, 'node_modules/.bin/bun'), ['add', manifest.name], env)
}

const denoEnvironment = () => ({ DENO_DIR: join(folder, 'deno-cache'), DENO_NO_UPDATE_CHECK: '1' })

async function installWithDeno(): Promise<void> {
  const path = await newProject('deno', 'deploy-bare-deno.ts')
  await writeFile(join(path, 'deno.json'), '{}')
  await install(path, await denoPath(), ['add', `npm:${manifest.name}`], denoEnvironment())
}

/** What the agent of a server answers. */
async function textOf(command: string, args: string[], name: string, env = {}): Promise<unknown> {
  const until = /listening (http:\/\/127\.0\.0\.1:\d+)/
  const server = await start({ command, args, until, cwd: project(name), env })
  try {
    const answer = await fetch(`${server.ready[1]}/api/agents/shout/run`, jsonRequest({ input: 'hello you' }))
    return (await answer.json()).text
  } finally {
    await server.stop()
  }
}

describe('the package in an empty project', () => {
  it('brings its dependencies and nothing else', async () => {
    const names = (await readdir(join(project('node'), 'node_modules'))).filter(name => !name.startsWith('.'))
    const expected = [manifest.name, ...Object.keys(manifest.dependencies)].map(name => name.split('/')[0])
    expect(names.sort()).toEqual(expected.sort())
  })

  it('brings nothing that needs a newer Node than itself', async () => {
    const modules = join(project('node'), 'node_modules')
    const promised = oldest(manifest.engines.node)
    expect(promised).toBeGreaterThan(22)
    for (const name of [manifest.name, ...Object.keys(manifest.dependencies)]) {
      const { engines } = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'))
      expect(oldest(engines?.node ?? '>=0'), name).toBeLessThanOrEqual(promised)
    }
  })

  it('has a command that needs no optional package, and says when it does', async () => {
    const command = join(project('node'), 'node_modules/.bin', manifest.name)
    expect((await run(process.execPath, [command, '--version'])).stdout).toContain(manifest.version)
    const store = run(process.execPath, [command, 'store', 'check', '--url', 'postgres://127.0.0.1/x'])
    await expect(store).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('run `npm install postgres`'),
    })
  })

  it('serves on Node', async () => {
    expect(await textOf(process.execPath, ['server.ts'], 'node')).toBe('HELLO YOU ')
  })

  it.for(['server.js', 'node_modules/.bin/servable'])(
    'says on Node 20 what it needs: %s',
    async (file, { skip }) => {
      skip(!ownVersion.startsWith('20.'), 'skipped: needs Node 20')
      const stderr = `servable needs Node 22.13 or newer, and this is Node ${ownVersion}`
      await expect(run(ownNodePath, [file], { cwd: project('node') })).rejects.toMatchObject({
        stderr: expect.stringContaining(stderr),
      })
    },
  )

  it.each(['Node', 'Bun', 'Deno'])('has a client that becomes one file as the page says: %s', async name => {
    const page = await readFile(join(root, 'docs/start/getting-started.md'), 'utf8')
    const rows = page.matchAll(/^\| (\w+) \| `(?:npx -y )?(\w+) ([^`]* [^`]*client\.js[^`]*)` \|$/gm)
    const [, , command = '', args = ''] = [...rows].find(([, runtime]) => runtime === name) ?? []
    const cwd = name.toLowerCase()
    const program = command === 'deno' ? await denoPath() : join(root, 'node_modules/.bin', command)
    await install(project(cwd), program, args.split(' '), denoEnvironment())
    const { createClient } = await import(join(project(cwd), 'client.js'))
    expect(createClient({ baseUrl: 'http://127.0.0.1/api' }).agent).toBeTypeOf('function')
  })

  it.each(['server.ts', 'bare.ts'])('serves on Bun: %s', async file => {
    expect(await textOf(join(root, 'node_modules/.bin/bun'), [file], 'bun')).toBe('HELLO YOU ')
  })

  it.each(['server.ts', 'bare.ts'])('serves on Deno: %s', async file => {
    const args = ['run', '--no-prompt', '--cached-only', '--allow-net=127.0.0.1', file]
    const env = { ...denoEnvironment(), NPM_CONFIG_REGISTRY: registry.url }
    expect(await textOf(await denoPath(), args, 'deno', env)).toBe('HELLO YOU ')
  })
})

describe('the types of the package, every declaration of them checked', () => {
  const subpaths = Object.keys(manifest.exports)
  const peers = Object.keys(manifest.peerDependencies)
  /** These import an optional package. */
  const needPeers = [
    './ag-ui-client',
    './ai-sdk-ui/page',
    './model-agent',
    './mcp-client',
    './otel',
    './signing',
    './stdio',
  ]

  beforeAll(async () => {
    for (const name of ['@types/node', ...peers]) await link('node', name)
    await link('bun', '@types/node')
  })

  async function link(where: string, name: string): Promise<void> {
    const path = join(project(where), 'node_modules', name)
    await mkdir(dirname(path), { recursive: true })
    await symlink(join(root, 'node_modules', name), path)
  }

  /** Rejects with what is wrong. */
  async function check(where: string, names: readonly string[], options: object): Promise<void> {
    const imports = names.map((name, index) => `import * as _${index} from 'servable${name.slice(1)}'`)
    const uses = `export const all = [${names.map((_, index) => `_${index}`)}]`
    await writeFile(join(project(where), 'all.ts'), [...imports, uses].join('\n'))
    const compilerOptions = { target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, ...options }
    const config = { compilerOptions, files: ['all.ts'] }
    await writeFile(join(project(where), 'tsconfig.json'), JSON.stringify(config))
    await run(join(root, 'node_modules/.bin/tsc'), ['-p', project(where)]).catch(error => {
      throw new Error(error.stdout)
    })
  }

  const dom = ['es2023', 'dom', 'dom.iterable']

  it.each([
    ['bundler, in a browser', { moduleResolution: 'bundler', module: 'esnext', lib: dom, types: [] }],
    [
      'nodenext, on Node',
      { moduleResolution: 'nodenext', module: 'nodenext', lib: ['es2023'], types: ['node'] },
    ],
  ])('are right without optional packages: %s', async (_, options) => {
    const others = subpaths.filter(name => !needPeers.includes(name))
    await check('bun', others, options)
  })

  // Those packages' own declarations are of both worlds.
  it.each([
    ['bundler', { moduleResolution: 'bundler', module: 'esnext', lib: dom, types: ['node'] }],
    ['nodenext', { moduleResolution: 'nodenext', module: 'nodenext', lib: dom, types: ['node'] }],
  ])('are right with optional packages: %s', { timeout: 240_000 }, async (_, options) => {
    await check('node', subpaths, options)
  })
})
