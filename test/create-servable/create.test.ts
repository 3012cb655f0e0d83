/** `npm create servable`: the files of each template, and what it refuses. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEMPLATES } from '../../create-servable/src/project.ts'
import { root } from '../runtimes/process.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly scripts: Record<string, string>
  readonly dependencies: Record<string, string>
  readonly devDependencies: Record<string, string>
}

const readJson = async (...path: string[]): Promise<Manifest> =>
  JSON.parse(await readFile(join(...path), 'utf8'))
const own = await readJson(root, 'package.json')
const names = Object.keys(TEMPLATES)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servable-create-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A new empty folder. */
async function empty(): Promise<string> {
  return await mkdtemp(join(folder, 'in-'))
}

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command in a folder. */
function create(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const all = [join(root, 'create-servable/src/main.ts'), ...args]
  return promisify(execFile)(process.execPath, all, { cwd, env: { ...process.env, ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

/** Files below a folder, without those of git. */
async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  return files.map(file => file.slice(path.length + 1)).filter(file => !file.startsWith('.git/'))
}

describe.each(names)('the template %s', template => {
  let project: string
  let files: string[]
  let manifest: Manifest
  beforeAll(async () => {
    const parent = await empty()
    project = join(parent, 'weather-desk')
    const ran = await create(parent, ['weather-desk', '--template', template, '--no-install', '--no-git'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    files = await filesIn(project)
    manifest = await readJson(project, 'package.json')
  })

  it('has its own name, and the version of servable', async () => {
    expect([manifest.name, manifest.dependencies.servable]).toEqual(['weather-desk', `^${own.version}`])
    for (const file of files) expect(await readFile(join(project, file), 'utf8')).not.toContain('my-agents')
  })

  it('has what every project has', () => {
    const common = ['.gitignore', 'README.md', 'agents.ts', 'agents.test.ts', 'model.ts', 'tsconfig.json']
    expect(files).toEqual(expect.arrayContaining(common))
    expect(files.filter(file => file.startsWith('_'))).toEqual([])
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(['dev', 'start', 'test', 'types']))
  })

  it('has a short README, whose commands and files are there', async () => {
    const readme = await readFile(join(project, 'README.md'), 'utf8')
    expect(readme.trim().split('\n').length).toBeLessThanOrEqual(25)
    const commands = [...readme.matchAll(/`npm run (\w+)`/g)].map(([, name = '']) => name)
    for (const name of ['dev', 'test', 'types', ...commands]) expect(manifest.scripts).toHaveProperty(name)
    expect(commands).toEqual(expect.arrayContaining(['dev', 'test', 'types']))
    const named = [...readme.matchAll(/`([\w/]+\.tsx?)`/g)].map(([, file]) => file)
    expect(files).toEqual(expect.arrayContaining(named))
  })

  it('has code that parses, and imports what is there', async () => {
    const code = files.filter(file => /\.tsx?$/.test(file))
    const packages = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const file of code) {
      const text = await readFile(join(project, file), 'utf8')
      await transform(text, { loader: extname(file).slice(1) as 'ts' | 'tsx' })
      for (const [, to = ''] of text.matchAll(
        /^(?:import|\} from|export .* from) ?(?:.* from )?'([^']+)'/gm,
      )) {
        if (to.startsWith('.')) expect(files, file).toContain(join(dirname(file), to))
        else if (!isGiven(to)) expect(packages, file).toHaveProperty([packageOf(to)])
      }
    }
  })

  it('has the versions that this repository tests', () => {
    const tested: Record<string, string> = own.devDependencies
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      expect(version, name).toMatch(/^\^\d+\.\d+\.\d+$/)
      if (name in tested) expect(version, name).toBe(`^${tested[name]}`)
    }
  })
})

/** Whether the runtime has a module. */
const isGiven = (name: string) => isBuiltin(name) || name.startsWith('cloudflare:')

/** The package of `a/b` or of `@a/b/c`. */
const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

describe('the command', () => {
  const quiet = ['--no-install', '--no-git']

  it.each([
    [{}, [], 'npm run dev'],
    [{ npm_config_user_agent: 'pnpm/12.21.0 npm/? node/v24.21.0 linux x64' }, [], 'pnpm dev'],
    [{ npm_config_user_agent: 'bun/1.4.4 npm/? node/v24.3.0 linux x64' }, [], 'bun run dev'],
    [{ npm_config_user_agent: 'yarn/4.18.1 npm/? node/v24.21.0 linux x64' }, [], 'yarn dev'],
    [{ npm_config_user_agent: 'yarn/4.18.1' }, ['--package-manager', 'pnpm'], 'pnpm dev'],
    [{ npm_config_user_agent: 'other/1.0.0' }, [], 'npm run dev'],
  ])('knows who runs it: %j %j', async (env, args, command) => {
    const cwd = await empty()
    const { stdout } = await create(cwd, ['one', ...quiet, ...args], { npm_config_user_agent: '', ...env })
    expect(stdout).toContain(`  cd one\n  ${command.split(' ')[0]} install\n  ${command}\n`)
    expect(await readFile(join(cwd, 'one/README.md'), 'utf8')).toContain(`\`${command}\``)
    const isOfYarn = command.startsWith('yarn')
    expect((await filesIn(join(cwd, 'one'))).includes('.yarnrc.yml')).toBe(isOfYarn)
  })

  it('fills an empty folder, also the one it is in', async () => {
    const cwd = await empty()
    const inside = join(cwd, 'here')
    await mkdir(inside)
    expect((await create(inside, ['.', ...quiet])).code).toBe(0)
    expect((await readJson(inside, 'package.json')).name).toBe('here')
    expect(await readdir(cwd)).toEqual(['here'])
    expect((await filesIn(inside)).filter(file => file.startsWith('.'))).toEqual(['.gitignore'])
  })

  it('fills a repository that has no files yet', async () => {
    const cwd = await empty()
    const inside = join(cwd, 'cloned')
    await mkdir(join(inside, '.git'), { recursive: true })
    await writeFile(join(inside, '.git/HEAD'), 'ref: refs/heads/trunk\n')
    expect((await create(inside, ['.', ...quiet])).code).toBe(0)
    expect(await readdir(inside)).toContain('agents.ts')
    expect(await readFile(join(inside, '.git/HEAD'), 'utf8')).toBe('ref: refs/heads/trunk\n')
  })

  it('makes `my-agents` of the first template without a word', async () => {
    const cwd = await empty()
    await create(cwd, ['--yes', ...quiet])
    expect((await readJson(cwd, 'my-agents/package.json')).scripts.dev).toBe('servable dev')
  })

  it('takes another servable', async () => {
    const cwd = await empty()
    await create(cwd, ['one', '--servable', 'file:../servable.tgz', ...quiet])
    expect((await readJson(cwd, 'one/package.json')).dependencies.servable).toBe('file:../servable.tgz')
  })

  it.each([
    [['Big'], '`Big` is no name for a package'],
    [['a b'], '`a b` is no name for a package'],
    [['.hidden'], '`.hidden` is no name'],
    [['node_modules'], '`node_modules` is no name'],
    [['servable'], '`servable` is a package that the project needs'],
    [['x'.repeat(215)], 'is no name for a package'],
    [
      ['one', 'two'],
      'Name one folder, and not `one` and `two`. With npm, options come after `--`: npm create servable@latest ',
    ],
    [
      ['one', '--template', 'huge'],
      'There is no template `huge`: choose one of minimal, chat-page, next, worker, team',
    ],
    [['one', '--template', 'constructor'], 'There is no template `constructor`'],
    [
      ['one', '--package-manager', 'deno'],
      'There is no package manager `deno`: choose one of npm, pnpm, yarn, bun',
    ],
    [['one', '--what'], "Unknown option '--what'. `--help` lists the options"],
    [['full'], '/full` is not empty, it has `a.txt`: name a new folder'],
    [['file'], '/file` is a file, or below one: name a new folder'],
    [['file/inside'], '/file/inside` is a file, or below one: name a new folder'],
    [['../in-nowhere/deep/one'], undefined],
  ])('refuses %j, and leaves nothing behind', async (args, message) => {
    const cwd = await empty()
    await mkdir(join(cwd, 'full'))
    await writeFile(join(cwd, 'full/a.txt'), '')
    await writeFile(join(cwd, 'file'), '')
    const ran = await create(cwd, [...args, ...quiet])
    if (message === undefined) return expect(ran.code).toBe(0)
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
    expect(ran.stderr.trim().split('\n')).toHaveLength(1)
    expect(await readdir(cwd)).toEqual(['file', 'full'])
    expect(await readdir(join(cwd, 'full'))).toEqual(['a.txt'])
  })

  it('keeps the project when the packages cannot be installed', async () => {
    const cwd = await empty()
    const bin = await empty()
    await writeFile(join(bin, 'npm'), '#!/bin/sh\necho "no network: $*" >&2\nexit 7\n')
    await chmod(join(bin, 'npm'), 0o755)
    const ran = await create(cwd, ['one', '--no-git'], { PATH: `${bin}:${process.env.PATH}` })
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('no network: install')
    expect(ran.stderr).toContain('`npm install` failed: the project is there, without its packages')
    expect(ran.stdout).toContain('npm install\n')
    expect(await readdir(cwd)).toEqual(['one'])
  })

  it('begins a repository of git, unless it is in one', async () => {
    const cwd = await empty()
    await create(cwd, ['outer', '--no-install'])
    expect(await readdir(join(cwd, 'outer'))).toContain('.git')
    await create(join(cwd, 'outer'), ['inner', '--no-install'])
    expect(await readdir(join(cwd, 'outer/inner'))).not.toContain('.git')
  })

  it('has the version of servable', async () => {
    expect((await create(folder, ['--version'])).stdout).toBe(`${own.version}\n`)
    expect((await create(folder, ['--help'])).stdout).toContain('--package-manager')
  })
})
