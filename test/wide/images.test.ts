/**
 * The image of `deploy/Dockerfile` on a base of Debian's packages, for both architectures, and the Kubernetes manifest against the types
 * of Kubernetes. Needs root, and the packages that it names where they are missing.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { onDisk } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { type OwnRegistry, startOwnRegistry } from '../frameworks/publish/registry.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { snippetOf } from '../pages/pages.ts'
import { manifests } from '../repository/manifests.ts'
import { pack } from '../repository/packing.ts'
import { type Architecture, type Containers, emulate, newContainers } from '../runtimes/containers.ts'
import { freePort } from '../runtimes/harness.ts'
import { type PostgresServer, startPostgres } from '../runtimes/postgres/server.ts'
import { root } from '../runtimes/process.ts'

/** Ends by itself after a few seconds, which is longer than a container needs to hear of SIGTERM. */
const AGENTS = `
import { Agent, textOf } from 'servable'

const pause = () => new Promise<void>(resolve => setTimeout(resolve, 500))

export const echo = new Agent({ name: 'echo', run: input => textOf(input) })
export const slow = new Agent({
  name: 'slow',
  async *run() {
    for (let n = 1; n <= 10; n++) {
      yield n + ' '
      await pause()
    }
  },
})
`

const TOKEN = 'token-of-the-test'

let packages: Installed
let folder: string
let registry: OwnRegistry
let containers: Containers
let database: PostgresServer
beforeAll(async () => {
  containers = await newContainers()
  packages = await install('images', [])
  folder = await mkdtemp(join(onDisk(), 'servable-project-'))
  registry = await startOwnRegistry(join(folder, 'registry'), join(packages.folder, 'node_modules'), [
    'servable',
  ])
  database = await startPostgres()
  await npm(folder, 'publish', (await pack()).tarball, '--registry', registry.url)
  await fillProject(join(folder, 'project'))
}, 600_000)
afterAll(async () => {
  await containers?.remove()
  await registry?.stop()
  await database?.stop()
  await packages?.remove()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 120_000)

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NPM_CONFIG_USERCONFIG: registry.settings }
  const { stdout } = await promisify(execFile)('npm', args, { cwd, env, maxBuffer: 2 ** 26 })
  return stdout
}

/** A project as a user has it: the files of `deploy` are beside its package.json. */
async function fillProject(project: string): Promise<void> {
  await mkdir(project)
  for (const name of ['Dockerfile', '.dockerignore'])
    await cp(join(root, 'deploy', name), join(project, name))
  const manifest = { name: 'agents', private: true, type: 'module', scripts: { build: 'node build.mjs' } }
  const files = {
    'package.json': JSON.stringify(manifest),
    'agents.ts': AGENTS,
    'servable.config.ts': snippetOf('containers-config.ts'),
    'build.mjs': "import { writeFileSync } from 'node:fs'\nwriteFileSync('built.txt', 'built')\n",
    '.env': 'SECRET_OF_A_DEVELOPER=1\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
  const own = ['--registry', registry.url, '--package-lock-only']
  await npm(project, 'install', ...own, 'servable', 'postgres@3.4.9')
}

describe.each<Architecture>(['amd64', 'arm64'])('the image for %s', architecture => {
  const image = `localhost/agents:${architecture}`
  let url: string
  let env: Record<string, string>
  let restore = async () => {}
  beforeAll(async () => {
    if (architecture === 'arm64') restore = await emulate()
    const base = await containers.base(architecture)
    const settings = join(folder, `npmrc-${architecture}`)
    const secret = await readFile(registry.settings, 'utf8')
    await writeFile(settings, `registry=${registry.url}\n${secret}`)
    const secrets = { npmrc: settings }
    await containers.build(join(folder, 'project'), { image, base, architecture, secrets })
    const owner = await database.database()
    await promisify(execFile)('psql', [owner, '--no-psqlrc', '-f', join(root, 'deploy/roles.sql')], {
      env: { ...process.env, SERVABLE_PASSWORD: 'x' },
    })
    const PORT = String(await freePort())
    url = `http://127.0.0.1:${PORT}/api`
    const served = new URL(owner)
    served.username = 'servable'
    env = { PORT, API_TOKEN: TOKEN, DATABASE_URL: served.href, OWNER_URL: owner }
  }, 1_200_000)
  afterAll(() => restore())

  it('is of that architecture, of a user who is not root, and has no secret', async () => {
    const facts = await containers.inspect(image)
    expect([facts.architecture, facts.config.User]).toEqual([architecture, '1000:1000'])
    expect(JSON.stringify(facts)).not.toContain('_authToken')
  })

  it('makes the schema as the owner of the tables alone', { timeout: 300_000 }, async () => {
    const store = async (act: string, DATABASE_URL: string) => {
      const job = await containers.run(image, { env: { DATABASE_URL }, args: ['store', act] })
      return { code: await job.ended, log: job.log() }
    }
    const { DATABASE_URL = '', OWNER_URL = '' } = env
    const early = await store('check', DATABASE_URL)
    expect(early.code, early.log).toBe(1)
    const denied = await store('migrate', DATABASE_URL)
    expect([denied.code === 0, denied.log]).toEqual([false, expect.stringContaining('permission denied')])
    expect(await store('migrate', OWNER_URL)).toMatchObject({ code: 0 })
    expect(await store('check', DATABASE_URL)).toMatchObject({ code: 0 })
  })

  it('serves as a user who may write nothing, is healthy, and drains on SIGTERM', {
    timeout: 300_000,
  }, async () => {
    const served = await containers.run(image, { env })
    await eventually(
      async () => expect((await fetch(`${url}/health`)).status, served.log()).toBe(200),
      120_000,
    )
    await expect(served.checkHealth()).resolves.toBeDefined()
    expect((await served.exec('id', '-u')).trim()).toBe('1000')
    expect((await served.exec('ls', '-A')).trim().split('\n').sort()).toEqual([
      ...['agents.ts', 'build.mjs', 'built.txt', 'node_modules', 'package-lock.json', 'package.json'],
      'servable.config.ts',
    ])
    await expect(served.exec('touch', '/app/file')).rejects.toThrow('Read-only file system')

    expect((await fetch(`${url}/agents/echo/run`, { method: 'POST' })).status).toBe(401)
    const client = createClient({ baseUrl: url, headers: { authorization: `Bearer ${TOKEN}` } })
    expect(await client.agent('echo').run('hello')).toMatchObject({ text: 'hello' })
    const stream = client.agent('slow').stream('go', { follow: false })
    let text = ''
    let isAsked = false
    for await (const event of stream) {
      if (event.type === 'text') text += event.text
      if (!isAsked) await served.signal('TERM')
      isAsked = true
    }
    expect(text).toBe('1 2 3 4 5 6 7 8 9 10 ')
    await expect(fetch(`${url}/health`)).rejects.toThrow()
    expect(await served.ended, served.log()).toBe(0)
  })
})

describe('the files', () => {
  it('are a Dockerfile without faults', async () => {
    const program = join(packages.folder, 'node_modules/dockerfilelint/bin/dockerfilelint')
    const args = [program, '--output', 'json', join(root, 'deploy/Dockerfile')]
    const { stdout } = await promisify(execFile)(process.execPath, args).catch(error => error)
    const { files } = JSON.parse(stdout)
    // The tag is in the argument, and it knows no options of HEALTHCHECK.
    const wrong = ['Base Image Missing Tag', 'Invalid Argument Format']
    const titles: string[] = files[0].issues.map(({ title }: { readonly title: string }) => title)
    expect([...new Set(titles)].sort()).toEqual(wrong)
  })

  it('are objects that Kubernetes takes', async () => {
    const models = join(packages.folder, 'node_modules/kubernetes-models')
    const objects = await manifests()
    expect(objects.length).toBe(5)
    for (const { apiVersion, kind, ...fields } of objects) {
      const { [kind]: Model } = await import(pathToFileURL(join(models, apiVersion, 'index.js')).href)
      expect(() => new Model({ apiVersion, kind, ...fields }).validate(), kind).not.toThrow()
      const wrong = { apiVersion, kind, ...fields, spec: 'wrong' }
      expect(() => new Model(wrong).validate(), kind).toThrow()
    }
  })
})
