/** Every command and snippet of the README and of the pages in `docs` does what the page says. */
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Handler } from '../../src/index.ts'
import { calls, type Provider, says, startProvider } from '../adapters/model-agent/provider.ts'
import { eventually } from '../eventually.ts'
import { skipWithout } from '../needing.ts'
import {
  commandsIn,
  fences,
  fencesOf,
  fromSources,
  otherFences,
  SOCKET_CLIENT_SAYS,
  snippetOf,
  snippetsIn,
  writeSnippets,
} from '../pages/pages.ts'
import { launch, visit } from './browser.ts'
import { type Runtime, startNode, startWrangler } from './harness.ts'
import { root } from './process.ts'

const run = promisify(execFile)
const snippets = snippetsIn(otherFences)

/** The snippets as files that import the sources, with a port of the test's choosing. */
let folder: string
/** What the models of the pages are asked from. */
let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
  const isProvider = /'(http:\/\/127\.0\.0\.1:4000|https:\/\/api\.openai\.com)\/v1'/
  folder = await writeSnippets(snippets, text => text.replace(isProvider, JSON.stringify(provider.url)))
})
afterAll(async () => {
  await provider?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function ask(handler: Handler, path: string, input: string, headers = {}): Promise<Response> {
  const body = JSON.stringify({ input })
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
  return handler(new Request(`http://127.0.0.1/api${path}`, init))
}

async function load(name: string): Promise<Handler> {
  const module = await import(pathToFileURL(join(folder, name)).href)
  return module.handler
}

async function textOfRun(name: string, path: string, input: string): Promise<string> {
  return (await (await ask(await load(name), path, input)).json()).text
}

describe('the README and the pages', () => {
  it('names every snippet by a file of its own', () => {
    expect(() => snippetsIn(fences)).not.toThrow()
  })

  it('is short', async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8')
    expect(readme.split('\n').length).toBeLessThanOrEqual(250)
  })

  it('has the two commands that package.json knows', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const commands = commandsIn(fencesOf(['../README.md']))
    const install = 'npx -y bun@1.4.4 install --frozen-lockfile'
    expect(commands.at(-1)).toBe(`${install} && npm run dev\n${install} && npm test`)
    expect(scripts).toMatchObject({ dev: expect.any(String), test: expect.any(String) })
  })

  it('shows an agent that shouts', async () => {
    expect(await textOfRun('agent.ts', '/agents/shout/run', 'hello you')).toBe('HELLO YOU ')
  })

  it('shows a run that a killed server goes on with', async context => {
    // Twenty seconds take two here.
    const program = join(folder, 'quick-survives.ts')
    await writeFile(
      program,
      (await readFile(join(folder, 'survives.ts'), 'utf8')).replace('1000, n', '100, n'),
    )
    const shown = commandsIn(fencesOf(['../README.md'])).find(isForKilled)
    const [start = '', follow = ''] = shown?.split('\n') ?? []
    const type = async (command: string, url: string, env = {}) => {
      const code = command.replace(OWN_SERVER, url).replace('curl', 'curl -s')
      return (await run('sh', ['-c', code], { env: { ...process.env, ...env } })).stdout
    }
    const killed = await startNode(program)
    context.onTestFinished(() => killed.kill())
    const { id } = JSON.parse(await type(start, killed.url)) as { id: string }
    const events = async () => (await fetch(`${killed.url}/api/runs/${id}/events`)).text()
    await eventually(async () => expect(await events()).toContain('"text":"3 "'))
    await killed.kill()
    const server = await startNode(program)
    context.onTestFinished(() => server.stop())
    const told = await type(follow, server.url, { RUN_ID: id })
    expect(told).toContain('"resumed"')
    const { result } = await (await fetch(`${server.url}/api/runs/${id}`)).json()
    expect(result.text).toBe(`${Array.from({ length: 20 }, (_, n) => n + 1).join(' ')} `)
    expect(told.match(/"status":"completed"/g)).toHaveLength(20)
  })

  it('shows an agent that calls a tool', async () => {
    const answer = await ask(await load('tools.ts'), '/agents/clock/run', 'UTC')
    expect(await answer.json()).toMatchObject({
      text: 'It was 12:00:00 AM',
      toolCalls: [{ toolName: 'time_in', args: 'UTC', result: '12:00:00 AM' }],
    })
  })

  it('shows teams and a workflow', async () => {
    expect(await textOfRun('team.ts', '/teams/either/run', 'short')).toBe('trohs')
    expect(await textOfRun('team.ts', '/teams/both/run', 'ab')).toBe('AB\n\nba')
    expect(await textOfRun('team.ts', '/teams/chain/run', 'ab')).toBe('BA')
    expect(await textOfRun('agents-count.ts', '/workflows/count/run', 'one two')).toBe('2 words')
  })

  it('shows a function that is made servable', async () => {
    expect(await textOfRun('adapters.ts', '/agents/count/run', 'one three')).toBe('3 5 ')
  })

  it.each([
    ['getting-started-test.ts', 'HELLO YOU '],
    ['agents-greeter.ts', 'Hello, Ada!'],
    ['agents-weather.ts', 'It is sunny in Ada.'],
    ['agents-typed-tool.ts', 'stranger: AdaAda'],
  ])('shows %s, an agent that answers', async (name, text) => {
    const { result, handler } = await import(pathToFileURL(join(folder, name)).href)
    const agent = { 'agents-greeter.ts': 'greeter', 'agents-weather.ts': 'weather' }[name] ?? 'parrot'
    const answer = result ?? (await (await ask(handler, `/agents/${agent}/run`, 'Ada')).json())
    expect(answer).toMatchObject({ text, finishReason: 'stop' })
  })

  it('shows a strategy of its own, and a workflow with an agent', async () => {
    expect(await textOfRun('agents-strategy.ts', '/teams/writers/run', 'short')).toBe('Draft: short')
    expect(await textOfRun('agents-strategy.ts', '/teams/writers/run', 'a long one, to polish')).toBe(
      'Draft: a long one, to polisha long one, to polish',
    )
    const answer = await ask(await load('agents-workflow.ts'), '/workflows/measure/run', ' ab ')
    expect((await answer.json()).structured).toEqual({ text: 'ab', characters: 2 })
  })

  it('shows a tool call that a person approves', async () => {
    const handler = await load('cashier.ts')
    const { runId, finishReason, requests } = await (await ask(handler, '/agents/cashier/run', '4711')).json()
    expect([finishReason, requests]).toMatchObject([
      'input_required',
      [{ kind: 'approval', toolName: 'refund', args: '4711' }],
    ])
    const body = JSON.stringify({ answers: [{ id: requests[0].id, decision: 'approve' }] })
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const answer = await handler(new Request(`http://127.0.0.1/api/runs/${runId}/answers`, init))
    expect(await answer.json()).toMatchObject({ text: 'Refunded 4711', finishReason: 'stop' })
  })

  it('shows a memory for each user', async () => {
    const { ofAda, ofBob } = await import(pathToFileURL(join(folder, 'sessions-users.ts')).href)
    expect([ofAda, ofBob]).toEqual(['milk, bread', 'tea'])
  })

  it('shows a message that replaces an earlier one', async () => {
    const { text } = await import(pathToFileURL(join(folder, 'sessions-edit.ts')).href)
    expect(text).toBe('A trip to Oslo, In June')
  })

  it('shows people their conversations', async () => {
    const { mine, turns, renamed, fork } = await import(pathToFileURL(join(folder, 'sessions-shown.ts')).href)
    expect(mine).toMatchObject([{ title: 'Plan a trip to Oslo', lastMessage: 'In May', count: 2 }])
    expect(turns).toMatchObject([{ input: 'In May' }, { text: 'Plan a trip to Oslo', status: 'completed' }])
    expect([renamed, fork]).toMatchObject([{ title: 'Oslo in May' }, { title: 'Oslo in May', count: 1 }])
  })

  it('shows how people delete what is theirs', async () => {
    const { status, handler } = await import(pathToFileURL(join(folder, 'deleting.ts')).href)
    expect(status).toBe(204)
    const headers = { authorization: 'Bearer token-of-ada' }
    const left = await handler(new Request('http://127.0.0.1/api/sessions', { headers }))
    expect((await left.json()).sessions).toEqual([])
  })

  it('shows feedback, and the export of turns', async () => {
    const { feedback, line } = await import(pathToFileURL(join(folder, 'feedback.ts')).href)
    expect(feedback).toMatchObject({ score: 1, text: 'Quick' })
    expect(JSON.parse(line)).toMatchObject({ sessionId: 'trip', text: 'Hello', feedback: { score: 1 } })
  })

  it('shows users who need a token', async () => {
    const handler = await load('guarded.ts')
    expect((await ask(handler, '/agents/assistant/run', 'hi')).status).toBe(401)
    const list = new Request('http://127.0.0.1/api/agents', {
      headers: { authorization: 'Bearer token-of-ada' },
    })
    expect((await handler(list)).status).toBe(200)
  })

  it('states the bindings that wrangler.toml has', async () => {
    const toml = await readFile(join(root, 'wrangler.toml'), 'utf8')
    const shown = fences.filter(
      ({ language, text }) => language === 'toml' && text.includes('durable_objects.bindings'),
    )
    expect(shown.length).toBeGreaterThan(0)
    const bindings = shown
      .flatMap(({ text }) => text.split('\n'))
      .filter(line => /SERVABLE_|class_name|new_sqlite_classes/.test(line))
    expect(bindings.length).toBeGreaterThan(8)
    for (const line of bindings) expect(toml).toContain(line)
  })

  it('shows server.ts, which answers what the page asks', async context => {
    const server = await startNode(join(folder, 'server.ts'))
    context.onTestFinished(() => server.stop())
    const [command = ''] = commandsIn(otherFences).filter(isForOwnServer)
    const { stdout } = await run('sh', ['-c', command.replace(OWN_SERVER, server.url)])
    expect(JSON.parse(stdout)).toMatchObject({ text: 'HELLO YOU ' })
  })

  it('shows page-server.ts, whose page streams an agent', async context => {
    skipWithout('chromium-headless-shell', context)
    const entryPoints = [join(root, 'src/client/index.ts')]
    await build({ entryPoints, bundle: true, format: 'esm', outfile: join(folder, 'client.js') })
    const server = await startNode(join(folder, 'page-server.ts'))
    context.onTestFinished(() => server.stop())
    const browser = await launch()
    context.onTestFinished(() => browser.close())
    const { page, complaints } = await visit(browser, server.url)
    await page.getByText('HELLO FROM A PAGE').waitFor()
    expect(complaints).toEqual([])
  })
})

/** The server that readers write themselves. */
const OWN_SERVER = 'http://127.0.0.1:3000'
/** The commands of the server that is killed have a test of their own. */
const isForOwnServer = (command: string) =>
  command.includes(OWN_SERVER) && !isForKilled(command) && !isForCreated(command)
/** That of the project of `npm create` is run by `npm run test:wide publish`. */
const isForCreated = (command: string) => command.includes('/agents/assistant/')
const isForKilled = (command: string) => command.includes('/workflows/counting/')

describe('what the pages show of models', () => {
  it('is an agent that a model answers for', async () => {
    provider.script(says('Roses are red'))
    expect(await textOfRun('models-first.ts', '/agents/poet/run', 'Hi')).toBe('Roses are red')
  })

  it('is an agent with a tool, and a team that a model leads', async () => {
    provider.script(calls(['forecast', { city: 'Oslo' }]), says('It is sunny'))
    expect(await textOfRun('model.ts', '/agents/helper/run', 'Oslo?')).toBe('It is sunny')
    provider.script(calls(['ask_helper', { input: 'Oslo?' }]), says('Sunny'), says('Sunny it is'))
    expect(await textOfRun('models-team.ts', '/teams/desk/run', 'Oslo?')).toBe('Sunny it is')
  })

  it('is structured output', async () => {
    provider.script(says('{"city":"Oslo","degrees":7}'))
    const answer = await ask(await load('models-output.ts'), '/agents/meteorologist/run', 'Oslo?')
    expect((await answer.json()).structured).toEqual({ city: 'Oslo', degrees: 7 })
  })

  it("is an agent of the AI SDK, with a client's own key", async () => {
    provider.script(says('Hello'))
    const handler = await load('models-ai-sdk.ts')
    await ask(handler, '/agents/sdk-helper/run', 'Hi')
    await ask(handler, '/agents/sdk-helper/run', 'Hi', { 'x-api-key': 'key-of-ada' })
    const keys = provider.asked.slice(-2).map(({ authorization }) => authorization)
    expect(keys).toEqual(['Bearer key-of-the-server', 'Bearer key-of-ada'])
  })

  it('is a server of an assistant that remembers, and a page that streams it', async () => {
    const server = await startNode(join(folder, 'main.ts'))
    try {
      for (const name of ['chat.ts', 'sessions-client.ts']) {
        provider.script(says('Hello Ada'), says('Ada'))
        const program = join(folder, `with-port-${name}`)
        const source = await readFile(join(folder, name), 'utf8')
        await writeFile(program, source.replace('http://127.0.0.1:3000', server.url))
        expect((await run(process.execPath, [program])).stdout).toBe('Ada\n')
        const { messages } = provider.asked.at(-1)!.body
        expect(JSON.stringify(messages)).toContain('My name is Ada.')
      }
      provider.script(says('One ', 'two'))
      const page = join(folder, 'with-port-page.ts')
      const source = await readFile(join(folder, 'page.ts'), 'utf8')
      await writeFile(page, source.replace("'/api'", JSON.stringify(`${server.url}/api`)))
      const { ask: askFrom } = await import(pathToFileURL(page).href)
      const shown: string[] = []
      await askFrom('Count', (text: string) => shown.push(text), new AbortController().signal)
      expect(shown.join('')).toBe('One two')
    } finally {
      await server.stop()
    }
  })
})

describe('commands', () => {
  let dev: Runtime | undefined
  beforeAll(async () => {
    dev = await startWrangler({ env: { ADMIN_TOKEN: 'secret' } })
  })
  afterAll(() => dev?.stop())

  it.each([
    ['event-socket-client.ts', SOCKET_CLIENT_SAYS],
    ['client-first.ts', /^3 \* \(4 \+ 5\) = 27\n$/],
    ['event-socket-plain.ts', /^Hello[\s\S]*JSON\n$/],
  ])('shows %s, which the dev server answers', async (name, said) => {
    const url = dev?.url ?? ''
    const source = fromSources(snippetOf(name))
      .replace('http://127.0.0.1:8787', url)
      .replace('ws://127.0.0.1:8787', url.replace('http', 'ws'))
    await writeFile(join(folder, `dev-${name}`), source)
    const { stdout } = await run(process.execPath, [join(folder, `dev-${name}`)])
    expect(stdout).toMatch(said)
  })

  const all = commandsIn(otherFences).filter(
    command => command.startsWith('curl') && !command.includes(OWN_SERVER),
  )
  const curls = all.filter(command => !command.includes('/sessions') && !command.includes('$SESSION_ID'))

  it('begin a session, use it and read its turns', async () => {
    let id = ''
    const outputs: string[] = []
    for (const command of all.filter(each => !curls.includes(each))) {
      expect(command).toContain('http://127.0.0.1:8787')
      const { stdout } = await run('sh', ['-c', command.replace('http://127.0.0.1:8787', dev?.url ?? '')], {
        cwd: root,
        env: { ...process.env, SESSION_ID: id },
      })
      outputs.push(stdout)
      id ||= JSON.parse(stdout).id
    }
    expect(outputs).toMatchObject([
      expect.stringContaining('"count":0'),
      expect.stringContaining('"finishReason":"stop"'),
      expect.stringContaining('"input":"Hello"'),
    ])
  })

  it.each(curls)('%s', async command => {
    expect(command).toContain('http://127.0.0.1:8787')
    const { stdout } = await run('sh', ['-c', command.replace('http://127.0.0.1:8787', dev?.url ?? '')], {
      cwd: root,
    })
    expect(stdout).toMatch(
      /"finishReason":"stop"|"stop_reason":"end_turn"|"correctedValue":"Bergen"|"type":"ai"/,
    )
  })
})
