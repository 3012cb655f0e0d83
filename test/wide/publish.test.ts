/** A release, rehearsed: made, published to a registry on this machine, and used from there as anybody would. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onDisk } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { commandOf, MANAGERS, type Managed, type Manager, managed } from '../frameworks/managers.ts'
import { type OwnRegistry, startOwnRegistry } from '../frameworks/publish/registry.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { denoPath } from '../runtimes/harness.ts'
import { type Command, root, start } from '../runtimes/process.ts'

const VERSION = '9.1.0'
const REPOSITORY = { type: 'git', url: 'git+https://git.example.com/some/one.git' }

let folder: string
let packages: Installed
let registry: OwnRegistry
/** A clone with what stands here, all of it committed. */
let clone: string
beforeAll(async () => {
  folder = await mkdtemp(join(onDisk(), 'servable-publish-'))
  clone = join(folder, 'clone')
  await mkdir(clone)
  const files = 'git ls-files -co --exclude-standard | while read -r f; do [ -e "$f" ] && echo "$f"; done'
  await run(root, 'sh', '-c', `(${files}) | tar -cf - -T - | tar -xf - -C "${clone}"`)
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
  await run(clone, 'git', 'init', '--quiet')
  await commit()
  packages = await install('publish', [])
  const modules = join(packages.folder, 'node_modules')
  registry = await startOwnRegistry(join(folder, 'registry'), modules, ['servable', 'create-servable'])
})
afterAll(async () => {
  await registry?.stop()
  await packages?.remove()
  await rm(folder, { recursive: true, force: true })
})

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NPM_CONFIG_USERCONFIG: registry?.settings ?? '' }
  return promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => Promise.reject(new Error(`${stdout}${stderr}`)),
  )
}

async function commit(): Promise<void> {
  const author = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com']
  await run(clone, 'git', 'add', '-A')
  await run(clone, 'git', ...author, 'commit', '--quiet', '--allow-empty', '-m', 'All of it')
}

const release = (...args: string[]) =>
  run(clone, process.execPath, '.ci/release.ts', ...args, '--registry', registry.url)
const restore = () => run(clone, 'git', 'checkout', '--quiet', '.')
const isClean = async () => expect(await run(clone, 'git', 'status', '--porcelain')).toBe('')
const read = (path: string) => readFile(join(clone, path), 'utf8')

describe('the release', () => {
  it('needs a version, a clean tree, a repository and entries', async () => {
    await expect(release('1.2')).rejects.toThrow('Say one version')
    await expect(release(VERSION)).rejects.toThrow('package.json has no `repository`, `homepage`, `bugs`')
    const version = JSON.parse(await read('package.json')).version
    await expect(release(version, '--allow-missing-repository')).rejects.toThrow(`${version} exists`)
    await writeFile(join(clone, 'new.txt'), '')
    await expect(release(VERSION)).rejects.toThrow('Commit or undo these changes first:\n?? new.txt')
    await rm(join(clone, 'new.txt'))
    const log = await read('CHANGELOG.md')
    await writeFile(join(clone, 'CHANGELOG.md'), log.replace(/(?<=## Unreleased\n)[\s\S]*?(?=\n## )/, '\n'))
    await commit()
    await expect(release(VERSION, '--allow-missing-repository')).rejects.toThrow('has no entries')
    await writeFile(join(clone, 'CHANGELOG.md'), log)
    await commit()
  })

  it('leaves the tree as it was if a check fails', async () => {
    const guide = await read('SECURITY.md')
    await writeFile(join(clone, 'SECURITY.md'), `${guide}\n[nowhere](#no-such-heading)\n`)
    await commit()
    await expect(release(VERSION, '--allow-missing-repository')).rejects.toThrow('lead nowhere:\nSECURITY.md')
    await isClean()
    await writeFile(join(clone, 'SECURITY.md'), guide)
    await commit()
  })

  it('is rehearsed without a repository, and publishes nothing', async () => {
    const told = await release(VERSION, '--allow-missing-repository')
    expect(told).toContain('package.json has no `repository`, `homepage`, `bugs`')
    for (const name of ['servable', 'create-servable'])
      expect(told).toContain(`  npm publish ${join(clone, name)}-${VERSION}.tgz --registry ${registry.url}`)
    await expect(run(clone, 'npm', 'view', 'servable', '--registry', registry.url)).rejects.toThrow('E404')
    await restore()
  })

  it('publishes both packages, with what the owner has filled in', async () => {
    const manifest = JSON.parse(await read('package.json'))
    const owner = {
      repository: REPOSITORY,
      homepage: 'https://example.com',
      bugs: 'https://example.com/bugs',
    }
    await writeFile(join(clone, 'package.json'), `${JSON.stringify({ ...manifest, ...owner }, null, 2)}\n`)
    await commit()
    console.log(await release(VERSION, '--publish'))
    const old = manifest.version.replaceAll('.', '\\.')
    for (const path of ['package.json', 'create-servable/package.json', 'deno.json', 'src/http/version.ts'])
      expect(await read(path), path).toMatch(new RegExp(`["']${VERSION}["']`))
    // The whole repository names the old version nowhere as its own.
    const found = await run(
      clone,
      'sh',
      '-c',
      `git grep -nE '(servable|VERSION)\\W.{0,6}\\b${old}\\b' -- . ':!test' ':!CHANGELOG.md' || true`,
    )
    expect(found).toBe('')
    expect(await read('CHANGELOG.md')).toMatch(
      new RegExp(`## Unreleased\n\n## ${VERSION} - \\d{4}-\\d\\d-\\d\\d\n\n### `),
    )
    await commit()

    const view = async (name: string) =>
      JSON.parse(await run(clone, 'npm', 'view', name, '--json', '--registry', registry.url))
    const [library, creator] = [await view('servable'), await view('create-servable')]
    for (const one of [library, creator]) {
      expect(one).toMatchObject({
        version: VERSION,
        homepage: owner.homepage,
        'dist-tags': { latest: VERSION },
      })
      for (const key of ['devDependencies', 'optionalDependencies', 'scripts', 'knip'])
        expect(one).not.toHaveProperty(key)
    }
    expect(creator.repository.directory).toBe('create-servable')
    expect(creator.dependencies ?? {}).toEqual({})
  })

  it('is not made twice', async () => {
    await expect(release(VERSION)).rejects.toThrow(`${VERSION} exists`)
    await writeFile(
      join(clone, 'CHANGELOG.md'),
      (await read('CHANGELOG.md')).replace(`## ${VERSION}`, '- A change'),
    )
    await commit()
    await expect(release(VERSION)).rejects.toThrow(`servable ${VERSION} is in the registry`)
  })
})

/** What the README asks. */
const [ASKED = ''] =
  /^curl http:\/\/127\.0\.0\.1:3000\/api\/agents\/assistant.*$/m.exec(
    await readFile(join(root, 'README.md'), 'utf8'),
  ) ?? []
const ANSWER = 'It is sunny in Oslo, and 18 °C.'

/** A manager with an empty folder and an empty home. */
async function fresh(manager: Manager): Promise<Managed & { readonly cwd: string }> {
  const parent = await mkdtemp(join(folder, 'user-'))
  const cwd = join(parent, 'projects')
  await mkdir(cwd)
  const own = { folder: parent, packages: join(packages.folder, 'node_modules'), registry: registry.url }
  return { ...(await managed(manager, own)), cwd }
}

/** Serves, and asks the agent. */
async function answers(command: Omit<Command, 'until'>): Promise<void> {
  const served = await start({ ...command, until: /(http:\/\/127\.0\.0\.1:\d+)/, startMs: 120_000 })
  try {
    await eventually(async () => {
      const typed = ASKED.replace('curl http://127.0.0.1:3000', `curl -s ${served.ready[1]}`)
      expect(JSON.parse(await run(folder, 'sh', '-c', typed))).toMatchObject({ text: ANSWER })
    })
  } catch (error) {
    throw new Error(`${(error as Error).message}\nIts output:\n${served.log()}`, { cause: error })
  } finally {
    await served.stop()
  }
}

/** What each manager's user types to begin, after `create`. */
const BEGIN: Readonly<Record<Manager, readonly string[]>> = {
  npm: ['create', '--yes', 'servable@latest', 'my-desk', '--', '--yes'],
  pnpm: ['create', 'servable@latest', 'my-desk', '--yes'],
  'yarn 1': ['create', 'servable', 'my-desk', '--yes'],
  'yarn 4': ['create', 'servable', 'my-desk', '--yes'],
  bun: ['create', 'servable@latest', 'my-desk', '--yes'],
}

describe.each(MANAGERS)('with %s', manager => {
  it('creates a project that answers, and the library can be added to another one', async () => {
    const { cwd, env, run } = await fresh(manager)
    const command = commandOf(manager)
    await run(cwd, command, ...BEGIN[manager])
    const project = join(cwd, 'my-desk')
    const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'))
    expect(manifest.dependencies.servable).toBe(`^${VERSION}`)
    expect(await readFile(join(project, 'README.md'), 'utf8')).toContain(
      command === 'npm' ? 'npm run dev' : `${command} `,
    )
    await answers({ command, args: ['run', 'start'], cwd: project, env: { ...env, PORT: '0' } })

    const other = join(cwd, 'other')
    await mkdir(other)
    await writeFile(join(other, 'package.json'), '{ "private": true, "type": "module" }')
    if (manager === 'yarn 4') await writeFile(join(other, 'yarn.lock'), '')
    await run(other, command, command === 'npm' ? 'install' : 'add', 'servable')
    await writeFile(
      join(other, 'a.js'),
      "import { createHandler } from 'servable'\nconsole.log(typeof createHandler)\n",
    )
    // Plug'n'Play of yarn 4 needs its own Node.
    const node = manager === 'yarn 4' ? ['yarn', 'node', 'a.js'] : ['node', 'a.js']
    expect(await run(other, node[0] ?? '', ...node.slice(1))).toContain('function')
  })
})

describe('on each runtime', () => {
  let user: Awaited<ReturnType<typeof fresh>>
  let project: string
  beforeAll(async () => {
    user = await fresh('npm')
    await user.run(user.cwd, 'npm', ...BEGIN.npm)
    project = join(user.cwd, 'my-desk')
  })

  it('Bun', async () => {
    const command = join(root, 'node_modules/.bin/bun')
    const args = ['run', '--bun', 'servable', 'dev', '--port', '0']
    await answers({ command, args, cwd: project, env: user.env })
  })

  it('Deno', async () => {
    const env = { ...user.env, DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' }
    const args = ['run', '-A', 'npm:servable', 'dev', '--port', '0']
    await answers({ command: await denoPath(), args, cwd: project, env })
  })

  it('Cloudflare Workers', async () => {
    await user.run(
      user.cwd,
      'npm',
      'create',
      '--yes',
      'servable@latest',
      'edge',
      '--',
      '--template',
      'worker',
    )
    const args = ['run', 'dev', '--', '--port', '0', '--inspector-port', '0']
    await answers({ command: 'npm', args, cwd: join(user.cwd, 'edge'), env: user.env })
  })
})

it('takes from an empty folder and an empty home to an answer so long', async () => {
  const { cwd, env, run } = await fresh('npm')
  const project = join(cwd, 'my-desk')
  const times: number[] = [performance.now()]
  await run(cwd, 'npm', ...BEGIN.npm, '--no-install')
  times.push(performance.now())
  await run(project, 'npm', 'install')
  times.push(performance.now())
  await answers({ command: 'npm', args: ['run', 'dev', '--', '--port', '0'], cwd: project, env })
  times.push(performance.now())
  const [created = 0, installed = 0, answered = 0] = times
    .slice(1)
    .map((time, at) => (time - (times[at] ?? 0)) / 1000)
  const told = [created, installed, answered, created + installed + answered].map(s => `${s.toFixed(1)} s`)
  console.log(
    `npm create ${told[0]}, npm install ${told[1]}, from npm run dev to an answer ${told[2]}, in all ${told[3]}`,
  )
})
