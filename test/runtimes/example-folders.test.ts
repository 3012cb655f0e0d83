/**
 * The examples that are copied whole: each installs by itself with the packed library, type-checks, and does what it says.
 *
 * @module-tag long
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { calls, type Provider, says, startProvider } from '../adapters/model-agent/provider.ts'
import { type Receiver, startReceiver } from '../contracts/otel/receiver.ts'
import { eventually } from '../eventually.ts'
import { PLUGINS } from '../examples/plugins.ts'
import { needing } from '../needing.ts'
import { type Examples, installExamples } from './example-folders.ts'
import { freePort } from './harness.ts'
import { startNginx } from './nginx.ts'
import { startPostgres } from './postgres/server.ts'
import { root, type Started, start } from './process.ts'

const NAMES = [
  'support-desk',
  'research',
  'other-framework',
  'chat-page',
  'chat-product',
  'several-machines',
  'worker-with-everything',
] as const

/** Packages that the repository does not have, as other examples have them. */
const REACT = {
  '@ai-sdk/react': '4.0.177',
  '@types/react': '19.3.0',
  '@types/react-dom': '19.3.0',
  react: '19.3.1',
  'react-dom': '19.3.1',
}

let examples: Examples
let provider: Provider
beforeAll(async () => {
  examples = await installExamples(NAMES)
  provider = await startProvider()
})
afterAll(async () => {
  await provider?.stop()
  await examples?.remove()
})

async function post(url: string, body: object, token?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

describe.each(NAMES)('the folder %s', name => {
  it('type-checks by itself', async () => {
    await examples.of(name).script('check')
  })

  it('states the versions that this repository has, and imports the package alone', async () => {
    const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'))
    const library = await read('package.json')
    const { dependencies, devDependencies } = await read(`examples/${name}/package.json`)
    const known = { ...library.devDependencies, [library.name]: library.version, ...REACT }
    for (const [dependency, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      expect([dependency, version]).toEqual([dependency, known[dependency]])
    }
    for (const { name: file } of (
      await readdir(join(root, 'examples', name), { withFileTypes: true })
    ).filter(each => each.isFile())) {
      expect(await readFile(join(root, 'examples', name, file), 'utf8'), file).not.toMatch(/from '\.\.\//)
    }
  })
})

describe('several machines', () => {
  needing('postgresql', 'nginx').it(
    'are two processes behind nginx, of which one goes on where the other was killed',
    async context => {
      const database = await startPostgres()
      context.onTestFinished(() => database.stop())
      const serve = async () => {
        const server = await examples.of('several-machines').serve({ DATABASE_URL: database.url })
        context.onTestFinished(() => server.stop())
        return server
      }
      const servers = [await serve(), await serve()] as const
      const proxy = await startNginx(
        await readFile(join(root, 'examples/several-machines/nginx.conf'), 'utf8'),
        servers.map(({ url }) => new URL(url).host),
      )
      context.onTestFinished(proxy.stop)
      const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
      const begin = (url: string) =>
        fetch(`${url}/api/workflows/steps/run`, { method: 'POST', headers, body: '{"input":"go"}' })
      // It begins in the process that is killed.
      const { id: runId } = await (await begin(servers[0].url)).json()
      const events = await fetch(`${servers[1].url}/api/runs/${runId}/stream`)
      const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
      let told = ''
      const readUntil = async (text: string) => {
        while (!told.includes(text)) {
          const { done, value = '' } = await reader.read()
          if (done) throw new Error(`the events ended before ${text}: ${told}`)
          told += value
        }
      }
      await readUntil('step 1 was done')
      await servers[0].kill()
      await readUntil('"resumed"')
      await readUntil('step 10 was done')
      await readUntil('"finishReason":"stop"')
      const answer = await fetch(`${proxy.url}/api/runs/${runId}`)
      expect(await answer.json()).toMatchObject({ status: 'completed' })
      expect((await begin(proxy.url)).status).toBe(202)
    },
  )
})

describe('the support desk', () => {
  it('passes its own test', async () => {
    const { folder, script } = examples.of('support-desk')
    await writeFile(join(folder, '.env'), `WEBHOOK_SECRET=${btoa('x'.repeat(32))}\n`)
    await script('test')
  })

  it('has the answers of a model once there is a key', async () => {
    const env = { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'k' }
    const command = ['node_modules/servable/dist/command/cli.js', 'start']
    const server = await examples.of('support-desk').serve(env, command)
    try {
      provider.script(calls(['order_status', { order: 'A1' }]), says('It is there'))
      const url = `${server.url}/api/agents/orders/run`
      const answer = await (await post(url, { input: 'Where is A1?' }, 'token-of-ada')).json()
      expect(answer).toMatchObject({ text: 'It is there', toolCalls: [{ args: { order: 'A1' } }] })
      expect(provider.asked[0]?.authorization).toBe('Bearer k')
    } finally {
      await server.stop()
    }
  })
})

describe('the agent of another framework', () => {
  it('answers, calls its tool, and uses the key of the client', async () => {
    const env = { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'of-the-server' }
    const server = await examples.of('other-framework').serve(env)
    try {
      provider.script(calls(['get_weather', { city: 'Oslo' }]), says('Sunny'))
      const answer = await post(`${server.url}/api/agents/weather/run`, {
        input: 'Oslo?',
        apiKey: 'of-a-client',
      })
      const call = { toolName: 'get_weather', args: { city: 'Oslo' }, result: 'It is sunny in Oslo' }
      expect(await answer.json()).toMatchObject({ text: 'Sunny', toolCalls: [call] })
      expect(provider.asked[0]?.authorization).toBe('Bearer of-a-client')
      const card = await fetch(`${server.url}/.well-known/agent-card.json`)
      expect(await card.json()).toMatchObject({ skills: [{ name: 'weather' }] })
    } finally {
      await server.stop()
    }
  })
})

describe('the chat page', () => {
  it('is served, and its client streams', async () => {
    const example = examples.of('chat-page')
    await example.script('build')
    const server = await example.serve()
    try {
      const page = await fetch(server.url)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await page.text()).toContain("from './client.js'")
      const client = await (await fetch(`${server.url}/client.js`)).text()
      expect(client).toBe(await readFile(join(example.folder, 'client.js'), 'utf8'))
      expect((await fetch(`${server.url}/server.ts`)).status).toBe(404)

      const { createClient } = await import(pathToFileURL(join(example.folder, 'client.js')).href)
      const said: string[] = []
      for await (const event of createClient({ baseUrl: `${server.url}/api` })
        .agent('parrot')
        .stream('one two')) {
        said.push(event.type === 'text' ? event.text : event.type)
      }
      expect(said).toEqual(['one ', 'two', 'finish'])
    } finally {
      await server.stop()
    }
  })
})

describe('the Worker with everything', () => {
  let server: Started
  let receiver: Receiver
  let url: string
  beforeAll(async () => {
    receiver = await startReceiver()
    const { folder } = examples.of('worker-with-everything')
    await mkdir(join(folder, 'state'))
    server = await start({
      command: join(folder, 'node_modules/.bin/wrangler'),
      args: [
        ...['dev', '--port', String(await freePort()), '--inspector-port', '0', '--persist-to', 'state'],
        ...['--var', 'USER_TOKEN:user', '--var', 'ADMIN_TOKEN:admin'],
        ...['--var', `OTEL_EXPORTER_OTLP_ENDPOINT:${receiver.url}`],
      ],
      cwd: folder,
      until: /Ready on (http:\/\/127\.0\.0\.1:\d+)/,
      env: { NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
      startMs: 60_000,
    })
    url = server.ready[1] ?? ''
  })
  afterAll(async () => {
    await server?.stop()
    await receiver?.stop()
  })

  const get = (path: string, token?: string) =>
    fetch(url + path, { headers: token ? { authorization: `Bearer ${token}` } : {} })

  it('answers the user alone', async () => {
    const run = { input: 'one two three' }
    const answer = await post(`${url}/api/agents/counter/run`, run, 'user')
    expect(await answer.json()).toMatchObject({ text: '3 words' })
    expect((await post(`${url}/api/agents/counter/run`, run)).status).toBe(401)
    const workflow = await post(`${url}/api/workflows/initials/run`, run, 'user')
    expect(await workflow.json()).toMatchObject({ text: 'ott' })
    const team = await post(`${url}/api/teams/pair/run`, run, 'user')
    expect(await team.json()).toMatchObject({ text: '3 words' })
  })

  it('answers whom the administrator has given a key', async () => {
    const asked = { owner: 'bob', name: 'bob', scopes: ['agent:counter'] }
    const { key } = await (await post(`${url}/api/keys`, asked, 'admin')).json()
    const run = async (path: string) => (await post(`${url}/api/${path}/run`, { input: 'one' }, key)).status
    expect([await run('agents/counter'), await run('teams/pair')]).toEqual([200, 403])
  })

  it('keeps a stored run in a Durable Object', async () => {
    const started = await post(
      `${url}/api/agents/counter/run`,
      { input: 'one two', background: true },
      'user',
    )
    const { runId } = await started.json()
    expect(await (await get(`/api/runs/${runId}`, 'user')).json()).toMatchObject({ status: 'completed' })
  })

  it('tells its log and the collector of runs', async () => {
    await post(`${url}/api/agents/counter/run`, { input: 'one' }, 'user')
    await eventually(() => {
      expect(receiver.spans.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['invoke_agent counter', 'execute_tool word_count']),
      )
      expect(server.log()).toMatch(/audit .* run\.started {2}agents\/counter {2}actor=ada/)
    })
  })

  it('has every part', async () => {
    const config = await get('/api/console/config', 'user')
    expect((await config.json()).plugins).toEqual(expect.arrayContaining([...PLUGINS, 'run-log']))
    const statuses = async (token: string | undefined, ...paths: string[]) =>
      Promise.all(paths.map(async path => [path, (await get(path, token)).status]))
    const open = ['/.well-known/agent-card.json', '/api/health']
    expect(await statuses(undefined, ...open)).toEqual(open.map(path => [path, 200]))
    const users = [
      '/api/docs/spec.json',
      '/api/tools',
      '/api/agents/counter/corrections',
      '/api/budgets',
      '/api/webhooks',
      '/socket.io/?EIO=4&transport=polling',
    ]
    expect(await statuses('user', ...users)).toEqual(users.map(path => [path, 200]))
    const admins = [
      '/api/metrics',
      '/api/admin/mcp',
      '/api/admin/toolkits',
      '/api/keys',
      '/api/schedules',
      '/api/budgets/all',
    ]
    expect(await statuses('admin', ...admins)).toEqual(admins.map(path => [path, 200]))
    expect(await statuses('user', ...admins)).toEqual(admins.map(path => [path, 401]))
  })

  it('offers its agents, and the tools of its toolkit, over MCP', async () => {
    const ask = async (method: string, params: object) =>
      (await (await post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method, params }, 'user')).json()).result
    const { tools } = await ask('tools/list', {})
    const names = ['counter', 'pair', 'initials', 'word_count']
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(names)
    expect(tools).toEqual(names.map(() => expect.objectContaining({ description: expect.any(String) })))
    const told = await ask('tools/call', { name: 'counter', arguments: { input: 'one two three' } })
    expect(told).toMatchObject({ content: [{ type: 'text', text: '3 words' }] })
    expect((await post(`${url}/mcp`, {})).status).toBe(401)
  })

  it('shows the documentation page, with its files from static assets', async () => {
    const page = await fetch(`${url}/api/docs`, { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    const [, script = ''] = /<script src="([^"]+bundle[^"]*)"/.exec(await page.text()) ?? []
    const file = await fetch(new URL(script, page.url))
    expect([script !== '', file.status]).toEqual([true, 200])
  })
})
