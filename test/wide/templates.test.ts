/** Each template of `create-servable` as its user gets it: packed, installed, checked, tested, built and run. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEMPLATES, type Template } from '../../create-servable/src/project.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { onDisk } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { commandOf, MANAGERS, type Managed, type Manager, managed } from '../frameworks/managers.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { type Packed, pack } from '../repository/packing.ts'
import { freePort } from '../runtimes/harness.ts'
import { type Started, start } from '../runtimes/process.ts'

let packages: Installed
let packed: Packed
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(onDisk(), 'servable-templates-'))
  packed = await pack()
  packages = await install('templates', [])
})
afterAll(async () => {
  await packages?.remove()
  await rm(folder, { recursive: true, force: true })
})

interface Created extends Managed {
  readonly project: string
  /** Runs a script of the project to its end. Returns its output. */
  script(name: string): Promise<string>
  /** Starts one that serves, and waits until it answers. */
  serve(name: string, args?: readonly string[], env?: Record<string, string>): Promise<Served>
}

interface Served extends Started {
  readonly url: string
}

/** Has a manager create and install a project in a new folder, by the packed command. */
async function create(template: Template, manager: Manager): Promise<Created> {
  const parent = await mkdtemp(join(folder, `${template}-`))
  const own = await managed(manager, { folder: parent, packages: join(packages.folder, 'node_modules') })
  await own.run(parent, 'tar', '-xzf', packed.creator)
  const project = join(parent, 'my-desk')
  const args = ['--template', template, '--package-manager', commandOf(manager), '--yes']
  const servable = `file:${packed.tarball}`
  await own.run(parent, 'node', 'package/dist/main.js', 'my-desk', ...args, '--servable', servable)
  const command = commandOf(manager)
  return {
    ...own,
    project,
    script: name => own.run(project, command, 'run', name),
    async serve(name, more = [], env = {}) {
      const started = await start({
        command,
        args: ['run', name, ...(more.length > 0 && command === 'npm' ? ['--'] : []), ...more],
        until: /(http:\/\/127\.0\.0\.1:\d+)/,
        cwd: project,
        env: { ...own.env, ...env },
        startMs: 120_000,
      })
      return { ...started, url: started.ready[1] ?? '' }
    },
  }
}

/** What each template is asked, and what it answers. */
const QUESTION = 'What is the weather in Oslo?'
const ANSWER = 'It is sunny in Oslo, and 18 °C.'

/** Asks the agent, which may still be compiled, and looks at the console. */
async function answers(url: string, hasConsole: boolean): Promise<void> {
  const ask = () => fetch(`${url}/api/agents/assistant/run`, jsonRequest({ input: QUESTION }))
  await eventually(async () => expect((await ask()).status).toBe(200))
  expect(await (await ask()).json()).toMatchObject({ text: ANSWER, finishReason: 'stop' })
  const page = await fetch(`${url}/api/console`)
  expect(page.status).toBe(hasConsole ? 200 : 404)
  if (!hasConsole) return
  expect(await page.text()).toContain('<!doctype html>')
  expect((await fetch(`${url}/api/console/config`)).status).toBe(200)
}

/** How each template is run: its arguments for a free port. */
interface Case {
  readonly builds?: boolean
  dev(created: Created): Promise<Served>
  start?(created: Created): Promise<Served>
}

const byServable: Case = {
  dev: created => created.serve('dev', ['--port', '0']),
  start: created => created.serve('start', [], { PORT: '0' }),
}

const CASES: Readonly<Record<Template, Case>> = {
  minimal: byServable,
  team: byServable,
  'chat-page': {
    ...byServable,
    builds: true,
    async dev(created) {
      // The ports are in the files, for whoever reads them.
      const [agents, page] = [await freePort(), await freePort()]
      const manifest = await readFile(join(created.project, 'package.json'), 'utf8')
      const changed = manifest
        .replace('3001', String(agents))
        .replace('vite --host', `vite --port ${page} --host`)
      await writeFile(join(created.project, 'package.json'), changed)
      const config = await readFile(join(created.project, 'vite.config.ts'), 'utf8')
      await writeFile(join(created.project, 'vite.config.ts'), config.replace('3001', String(agents)))
      const served = await created.serve('dev')
      return { ...served, url: `http://127.0.0.1:${page}` }
    },
  },
  next: {
    builds: true,
    dev: async created => created.serve('dev', ['--port', String(await freePort())]),
    start: async created => created.serve('start', ['--port', String(await freePort())]),
  },
  worker: {
    builds: true,
    dev: created => created.serve('dev', ['--port', '0', '--inspector-port', '0']),
  },
}

async function whileServed(started: Promise<Served>, look: (url: string) => Promise<void>): Promise<void> {
  const served = await started
  try {
    await look(served.url)
  } catch (error) {
    throw new Error(`${(error as Error).message}\nIts output:\n${served.log()}`, { cause: error })
  } finally {
    await served.stop()
  }
}

describe.each(Object.keys(TEMPLATES) as Template[])('the template %s', template => {
  const { builds = false, dev, start: begin } = CASES[template]
  let created: Created
  beforeAll(async () => {
    created = await create(template, 'npm')
  })

  it('has types that fit', async () => {
    await created.script('types')
  })

  it('passes its own test', async () => {
    expect(await created.script('test')).toMatch(/pass 1\n[\s\S]*fail 0\n/)
  })

  it.runIf(builds)('is built', async () => {
    await created.script('build')
  })

  it('answers in development, with a console', async () => {
    await whileServed(dev(created), url => (template === 'team' ? refunds(url) : answers(url, true)))
  })

  it.runIf(begin !== undefined)('answers in production, without one', async () => {
    if (begin === undefined) return
    await whileServed(begin(created), async url => {
      if (template === 'team') return refunds(url)
      if (template === 'next') return expect((await fetch(url)).status).toBe(200)
      await answers(url, false)
      if (template === 'chat-page') expect(await (await fetch(url)).text()).toContain('<div id="root">')
    })
  })

  it('leaves nothing that git would add but its files', async () => {
    const added = await created.run(created.project, 'git', 'status', '--porcelain', '-uall')
    expect(added).not.toMatch(/node_modules|\.next|dist\/|\.servable|\.wrangler|\.db|\.env/)
  })
})

/** Asks the team for a refund, approves it, and reads the end. */
async function refunds(url: string): Promise<void> {
  const asked = await fetch(`${url}/api/teams/desk/run`, jsonRequest({ input: 'Please refund order 7' }))
  const { runId, requests } = await asked.json()
  expect(requests).toMatchObject([{ kind: 'approval', toolName: 'refund', args: { order: '7', euros: 40 } }])
  const decision = { answers: [{ id: requests[0].id, decision: 'approve' }] }
  const end = await fetch(`${url}/api/runs/${runId}/answers`, jsonRequest(decision))
  expect((await end.json()).text).toContain('Order 7 is refunded with 40 euros.')
}

describe.each(MANAGERS.filter(manager => manager !== 'npm'))('the template minimal with %s', manager => {
  it('installs, has types that fit, passes its test and answers', async () => {
    const created = await create('minimal', manager)
    await created.script('types')
    expect(await created.script('test')).toMatch(/fail 0\n/)
    await whileServed(created.serve('dev', ['--port', '0']), url => answers(url, true))
  })
})

it.each(MANAGERS.filter(manager => manager !== 'npm'))(
  'the template worker with %s installs and is built',
  async manager => {
    const created = await create('worker', manager)
    await created.script('build')
  },
)
