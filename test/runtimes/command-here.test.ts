/** The commands about the agents of a folder: `servable dev`, `start` and `run`. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { begin, cli } from '../contracts/command.ts'
import { eventually } from '../eventually.ts'
import { commandsIn, fencesOf, snippetsIn } from '../pages/pages.ts'
import { ELSEWHERE, LONG } from '../tags.ts'
import { denoPath } from './harness.ts'
import { root, type Started, start } from './process.ts'

const SOURCE = join(root, 'src/index.ts')

const ECHO = `
import { Agent, textOf, tool } from '${SOURCE}'
export const echo = new Agent({ name: 'echo', run: input => 'old ' + textOf(input) })
`

/** Says a number ten times a second, until its 30th. */
const SLOW = `
export const slow = new Agent({
  name: 'slow',
  async *run() {
    for (let n = 1; n <= 30; n++) {
      yield n + ' '
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  },
})
`

const ALL = Array.from({ length: 30 }, (_, index) => `${index + 1} `).join('')

const ASKING = `
import * as v from 'valibot'
const refund = tool({ name: 'refund', needsApproval: true, execute: order => 'refunded ' + order })
export const cashier = new Agent({
  name: 'cashier',
  tools: [refund],
  async *run(input, { callTool, ask }) {
    const size = yield* ask('size', { message: 'Which size?', schema: v.pipe(v.number(), v.integer()) })
    yield size + ' ' + (yield* callTool(refund, textOf(input)))
  },
})
`

/** A folder with files, which is removed after the test. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(join(root, 'test/.tmp'), { recursive: true })
  const folder = await mkdtemp(join(root, 'test/.tmp/here-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

const HERE = (folder: string, args: readonly string[], env: Record<string, string> = {}, piped = '') =>
  begin(args, env, piped, folder).ended

interface Serving extends Started {
  readonly client: ReturnType<typeof createClient>
  interrupt(): void
}

/** Starts a command that serves, on a free port. */
async function serving(
  folder: string,
  args: readonly string[],
  [command = '', ...before]: readonly string[] = [process.execPath],
  env: Record<string, string> = {},
): Promise<Serving> {
  const started = await start({
    command,
    args: [...before, cli, ...args],
    cwd: folder,
    env: { PORT: '0', DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1', ...env },
    until: /(http:\/\/127\.0\.0\.1:\d+\/api)[\s\S]*(?:Ctrl-C|"missing")/,
  })
  onTestFinished(() => started.stop())
  return {
    ...started,
    client: createClient({ baseUrl: started.ready[1] ?? '', maxTries: 1 }),
    interrupt: () => process.kill(started.pid, 'SIGINT'),
  }
}

const DEVELOPERS: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  node: async () => [process.execPath],
  bun: async () => [join(root, 'node_modules/.bin/bun')],
  deno: async () => [await denoPath(), 'run', '-A', '--config', join(root, 'deno.json')],
}

describe.each(Object.entries(DEVELOPERS))('servable dev on %s', ELSEWHERE, (_, runtime) => {
  it('serves a file, takes its new code, ends the runs of the old one, and ends with Ctrl-C', async () => {
    // The port stays the same, so it cannot be 0.
    const folder = await folderWith({ 'agents.ts': ECHO + SLOW })
    const { client, log, interrupt } = await serving(folder, ['dev'], await runtime(), {
      PORT: await freePort(),
    })
    expect((await client.agent('echo').run('Hello')).text).toBe('old Hello')
    expect(log()).toContain(`  state     ${join('.servable', 'state.db')}\n`)

    const atWork = client.agent('slow').stream('go', { sessionId: 'one' })
    await atWork.next()
    await writeFile(join(folder, 'agents.ts'), ECHO.replace('old', 'new'))
    const says = async (text: string) =>
      eventually(async () => expect((await client.agent('echo').run('Hello')).text).toBe(text))
    await says('new Hello')
    await expect(client.agents()).resolves.toHaveLength(1)
    expect((await atWork.result()).text).toBe(ALL)

    // What cannot be loaded does not replace what serves.
    await writeFile(join(folder, 'agents.ts'), `${ECHO}\nthrow new Error('no luck')`)
    await eventually(() =>
      expect(log()).toMatch(
        /agents\.ts cannot be loaded: no luck \(agents\.ts:\d+\)\nThe code from before still serves\n/,
      ),
    )
    await says('new Hello')
    await writeFile(join(folder, 'more.ts'), `export const word = 'newest'`)
    await writeFile(
      join(folder, 'agents.ts'),
      `${ECHO.replace("'old ' +", "word + ' ' +")}\nimport { word } from './more.ts'`,
    )
    await says('newest Hello')
    // A file that an agent is made of counts too.
    await writeFile(join(folder, 'more.ts'), `export const word = 'very newest'`)
    await says('very newest Hello')
    interrupt()
    await eventually(() => expect(log()).toMatch(/exited with code 0/))
  })
})

/** A port that nobody listens on. */
async function freePort(): Promise<string> {
  const { createServer } = await import('node:net')
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return String(port)
}

describe('the page about it', () => {
  it('shows an agent and options that the commands serve and ask', async () => {
    const shown = snippetsIn(fencesOf(['dev.md']))
    const files = [...shown].map(([name, text]) => [name, text.replaceAll(`'servable'`, `'${SOURCE}'`)])
    const folder = await folderWith(Object.fromEntries(files))
    const { ready } = await serving(folder, ['dev'])
    const [, runs = ''] = commandsIn(fencesOf(['dev.md']))
    for (const line of runs.split('\n')) {
      const typed = line.replace('http://127.0.0.1:3000/api', ready[1] ?? '')
      const args = [...typed.matchAll(/"([^"]+)"|(\S+)/g)]
        .map(([, quoted, word]) => quoted ?? word ?? '')
        .slice(2)
      const { out, err } = await HERE(folder, args, { SERVABLE_TOKEN: 'token-of-ada' })
      expect({ line, out, err }).toEqual({ line, out: 'HELLO YOU\n', err: '' })
    }
  })
})

describe('servable dev', () => {
  it('serves every part that needs no setting, and says where', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO, '.env': 'GREETING=Hi' })
    const { ready, log } = await serving(folder, ['dev'])
    const [, url = ''] = ready
    expect(log()).toContain(`console   ${url}/console\n`)
    expect(log()).toContain(`curl ${url}/agents/echo/run -H 'content-type: application/json'`)
    for (const path of [
      'console',
      'docs',
      'runs',
      'sessions',
      'approvals',
      'paused',
      'metrics',
      '../.well-known/agent-card.json',
      'docs/spec.json',
    ])
      expect((await fetch(`${url}/${path}`)).status, path).toBe(200)
    const models = await (await fetch(`${url}/../v1/models`)).text()
    expect(models).toContain('"echo"')
  })

  it('keeps sessions and runs over a crash', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO })
    const first = await serving(folder, ['dev'])
    const { runId = '' } = await first.client.agent('echo').run('Hello', { sessionId: 'one' })
    await first.kill()
    const { client } = await serving(folder, ['dev'])
    expect(await client.runs.get(runId)).toMatchObject({ status: 'completed', sessionId: 'one' })
  })

  it('says what is the matter, and serves once that is mended', async () => {
    const folder = await folderWith({ 'agents.ts': 'export const nothing = 1' })
    const started = await start({
      command: process.execPath,
      args: [cli, 'dev'],
      cwd: folder,
      env: { PORT: '0' },
      until: /exports no agent/,
    })
    onTestFinished(() => started.stop())
    await writeFile(join(folder, 'agents.ts'), ECHO)
    await eventually(() => expect(started.log()).toContain('console   http://127.0.0.1:'))
  })

  it('says which file loops while it is imported, and goes on after a change', LONG, async () => {
    const folder = await folderWith({ 'agents.ts': 'while (true) {}' })
    const started = await start({
      command: process.execPath,
      args: [cli, 'dev'],
      cwd: folder,
      env: { PORT: '0' },
      until: /still loading after 5 s/,
    })
    onTestFinished(() => started.stop())
    await writeFile(join(folder, 'agents.ts'), ECHO)
    await eventually(() => expect(started.log()).toContain('console   http://127.0.0.1:'))
  })

  it('names the keys that the file reads and that are not set', async () => {
    const reads = `${ECHO}\nexport const key = process.env.SOME_API_KEY, other = process.env.OTHER_API_KEY`
    const folder = await folderWith({ 'agents.ts': reads, '.env': 'OTHER_API_KEY=secret' })
    const { log } = await serving(folder, ['dev'])
    expect(log()).toContain('SOME_API_KEY is not set. Write the line SOME_API_KEY=… into the file .env')
    expect(log()).not.toContain('OTHER_API_KEY')
  })

  it('ends if its port is taken', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO })
    const { ready } = await serving(folder, ['dev'])
    const { port } = new URL(ready[1] ?? '')
    const { code, err } = await HERE(folder, ['dev', '--port', port])
    expect(err).toContain(
      `servable: Port ${port} is taken. Stop what listens there, or choose another one with --port\n`,
    )
    expect(err).not.toContain('The service has stopped')
    expect(code).toBe(2)
  })
})

describe('a folder', () => {
  const ENUM = `${ECHO}\nexport enum Size { Small }`
  const KEY = `throw new Error('The API key is missing: set the OPENAI_API_KEY environment variable')`
  it.each([
    [
      'has no agents',
      {},
      'There is no agents.ts here. Name a file with agents, or begin with: npm create servable',
    ],
    ['exports nothing', { 'agents.ts': 'export {}' }, 'agents.ts exports no agent. Export one:'],
    [
      'throws',
      { 'agents.ts': `throw new TypeError('no')` },
      'agents.ts cannot be loaded: TypeError: no (agents.ts:1)',
    ],
    [
      'imports a file that throws',
      { 'agents.ts': `import './lib/more.ts'`, 'lib/more.ts': `\nthrow new TypeError('no')` },
      `agents.ts cannot be loaded: TypeError: no (${join('lib', 'more.ts')}:2)`,
    ],
    [
      'misses an export',
      { 'agents.ts': `\nimport { b } from './more.ts'\nb()`, 'more.ts': 'export const a = 1' },
      `does not provide an export named 'b' (agents.ts:2)\n`,
    ],
    [
      'makes an agent that cannot be',
      { 'agents.ts': `${ECHO}\nnew Agent({ name: '', run: () => '' })` },
      '(agents.ts:5)\n',
    ],
    ['names a file that is not there', { 'agents.ts': `import './no.ts'` }, 'agents.ts\n'],
    ['is not JavaScript', { 'agents.ts': 'export const = 1' }, 'agents.ts cannot be loaded: SyntaxError'],
    ['is not TypeScript', { 'agents.ts': 'let a: number = 1\n\nlet = = 2' }, '(agents.ts:3)\n'],
    ['has an enum', { 'agents.ts': ENUM }, 'or use Bun or Deno (agents.ts:5)\n'],
    ['misses a package', { 'agents.ts': `import 'not-there'` }, 'Install it: npm install not-there'],
    ['omits an ending', { 'agents.ts': `import './tools'` }, 'An import of a file needs its ending'],
    ['misses a key', { 'agents.ts': KEY }, 'Write the line OPENAI_API_KEY=… into the file .env'],
    [
      'has two of one name',
      { 'agents/a.ts': ECHO, 'agents/b.ts': ECHO },
      'There are two of the name agent `echo`: in agents/a.ts and in agents/b.ts. Rename one of them',
    ],
    [
      'has two of one name in a file',
      {
        'agents.ts': `${ECHO}\nexport const again = new Agent({ name: 'echo', run: () => '', register: false })`,
      },
      'There are two of the name agent `echo`: in agents.ts. Rename one of them',
    ],
    [
      'has options without a default export',
      { 'agents.ts': ECHO, 'servable.config.ts': 'export const options = {}' },
      'servable.config.ts needs a default export',
    ],
    [
      'has wrong options',
      { 'agents.ts': ECHO, 'servable.config.ts': 'export default { prefiks: "/" }' },
      '`prefiks` is not a known',
    ],
    ['cannot keep state', { 'agents.ts': ECHO, '.servable': 'a file' }, 'The state cannot be kept in'],
    ['has a directory as .env', { 'agents.ts': ECHO, '.env/x': '' }, '.env cannot be read'],
  ])('that %s is told so', async (_, files, text) => {
    const folder = await folderWith(files)
    const { code, out, err } = await HERE(folder, ['run', 'echo', 'Hello'])
    expect(err).toContain(text)
    expect({ code, out }).toEqual({ code: err.includes('prefiks') ? 1 : 2, out: '' })
  })

  it('with a file that does not exist is told so', async () => {
    const folder = await folderWith({})
    for (const args of [
      ['dev', 'typo.ts'],
      ['start', 'typo.ts'],
      ['run', 'echo', 'Hello', '--from', 'typo.ts'],
    ]) {
      const { code, err } = await HERE(folder, args)
      expect(err).toBe('servable: There is no typo.ts: give the file or the folder with your agents\n')
      expect(code).toBe(2)
    }
  })

  it('with the database of a newer version is told so', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO })
    await HERE(folder, ['run', 'echo', 'Hello'])
    const database = new DatabaseSync(join(folder, '.servable/state.db'))
    database.exec('INSERT INTO servable_schema (version) VALUES (9999)')
    database.close()
    const { code, err } = await HERE(folder, ['run', 'echo', 'Hello'])
    expect(err).toMatch(/^servable: .*state\.db.*newer/)
    expect(code).not.toBe(0)
  })

  it('of files serves what they export, in lists and objects too, and agents of other frameworks', async () => {
    const folder = await folderWith({
      'agents/one.ts': `${ECHO}\nexport default [new Agent({ name: 'listed', run: () => '', register: false })]`,
      'agents/two.ts': `export default { helper: { version: 'agent-v1', stream() {}, generate() {} } }`,
      'agents/two.test.ts': `throw new Error('a test is no agent')`,
      'agents/types.d.ts': '',
    })
    const { err } = await HERE(folder, ['run', 'nobody', 'Hello'])
    expect(err).toBe('servable: There is no `nobody`. There is: listed, echo, helper\n')
  })
})

describe('servable start', () => {
  it('serves for production, and lets runs end after SIGTERM', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO + SLOW })
    const { client, ready, pid, log } = await serving(folder, ['start'])
    const [, url = ''] = ready
    expect((await fetch(`${url}/console`)).status).toBe(404)
    expect((await client.agent('echo').run('Hello')).text).toBe('old Hello')
    const atWork = client.agent('slow').stream('go', { follow: false })
    let text = ''
    for await (const event of atWork) {
      if (text === '') process.kill(pid, 'SIGTERM')
      if (event.type === 'text') text += event.text
    }
    expect(text).toBe(ALL)
    await eventually(() => expect(log()).toMatch(/exited with code 0/))
    const entries = log()
      .trim()
      .split('\n')
      .filter(line => !line.startsWith('exited'))
    expect(entries.map(line => JSON.parse(line).event)).toContain('run.ended')
  })

  it('takes options of servable.config.ts, and the console if it is asked for', async () => {
    const folder = await folderWith({
      'agents.ts': ECHO,
      'servable.config.ts': `import { bearerAuth } from '${SOURCE}'
        export default { prefix: '/v2', plugins: [], middleware: [bearerAuth({ tokens: { secret: 'ada' } })] }`,
    })
    const started = await start({
      command: process.execPath,
      args: [cli, 'start', '--console', '--host', '0.0.0.0'],
      cwd: folder,
      env: { PORT: '0' },
      until: /http:\/\/0\.0\.0\.0:(\d+)\/v2/,
    })
    onTestFinished(() => started.stop())
    const url = `http://127.0.0.1:${started.ready[1]}/v2`
    expect((await fetch(`${url}/agents`)).status).toBe(401)
    expect((await fetch(`${url}/console`, { headers: { accept: 'text/html' } })).status).toBe(200)
    const headers = { authorization: 'Bearer secret' }
    expect((await fetch(`${url}/agents`, { headers })).status).toBe(200)
    // `plugins` replaces the plugins that are on by default.
    expect((await fetch(`${url}/sessions`, { headers })).status).toBe(404)
  })

  it('refuses to listen beyond this machine without authentication, unless it is told', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO })
    const { code, err } = await HERE(folder, ['start', '--host', '0.0.0.0'], { PORT: '0' })
    expect(err).toContain('servable: Everyone who reaches 0.0.0.0 could run these agents.')
    expect(code).toBe(2)
    const started = await start({
      command: process.execPath,
      args: [cli, 'start', '--host', '0.0.0.0', '--public'],
      cwd: folder,
      env: { PORT: '0' },
      until: /http:\/\/0\.0\.0\.0:(\d+)\/api/,
    })
    await started.stop()
  })
})

describe('servable run', () => {
  it('shows the answer of an agent of the folder, or of a service', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO })
    expect(await HERE(folder, ['run', 'echo', 'Hello', 'you'])).toEqual({
      code: 0,
      out: 'old Hello you\n',
      err: '',
    })
    expect((await HERE(folder, ['run', 'echo'], {}, 'piped\n')).out).toBe('old piped\n')
    const { ready } = await serving(folder, ['dev'])
    const there = await HERE(await folderWith({}), [
      'run',
      'echo',
      'Hello',
      '--url',
      ready[1] ?? '',
      '--json',
    ])
    expect(
      there.out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).event.type),
    ).toEqual(['text', 'finish'])
  })

  it('keeps a session for the next call', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO })
    await HERE(folder, ['run', 'echo', 'one', '--session', 's'])
    await HERE(folder, ['run', 'echo', 'two', '--session', 's'])
    const { client } = await serving(folder, ['dev'])
    const { turns } = await client.sessions.messages({ kind: 'agent', name: 'echo' }, 's')
    expect(turns).toHaveLength(2)
  })

  it('asks the person at the terminal, and again if the answer does not fit', async () => {
    const folder = await folderWith({ 'agents.ts': ECHO + ASKING })
    const child = spawn('script', ['-qec', `${process.execPath} ${cli} run cashier 7`, '/dev/null'], {
      cwd: folder,
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let out = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      out += text
    })
    const code = new Promise(resolve => child.once('close', resolve))
    const answer = async (question: string, count: number, text: string) => {
      // The prompt is followed by where the cursor goes.
      await eventually(() => expect(out.split(`${question} \u001b`)).toHaveLength(count + 1))
      child.stdin.write(text)
    }
    await answer('Which size?', 1, 'many\n')
    await answer('Which size? (Invalid type: Expected number but received "many")', 1, '42\n')
    await answer('Run refund "7"? [y/N]', 1, 'y\n')
    expect(await code).toBe(0)
    expect(out).toContain('42 refunded 7')
  })

  it('tells that a run waits where nobody can be asked, and approves where it is told to', async () => {
    const folder = await folderWith({
      'agents.ts': ECHO + ASKING.replace(/const size.*\n/, 'const size = 1\n'),
    })
    const waiting = await HERE(folder, ['run', 'cashier', '7'])
    expect(waiting.err).toMatch(
      /^The run waits, and nobody can be asked here\. Its id: \S{36}\nAnswer it in the console/,
    )
    const { code, out } = await HERE(folder, ['run', 'cashier', '7', '--approve'])
    expect(out).toContain('1 refunded 7')
    expect(code).toBe(0)
  })

  it('fails with the run', async () => {
    const folder = await folderWith({
      'agents.ts': `${ECHO}\nexport const bad = new Agent({ name: 'bad', run() { throw new Error('no luck') } })`,
    })
    const { code, out } = await HERE(folder, ['run', 'bad', 'x'])
    expect(out).toContain('no luck')
    expect(code).toBe(1)
  })
})
