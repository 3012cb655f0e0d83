/**
 * The service of the examples as a newcomer starts it: `npm run dev`, and the same on Node.
 *
 * @module-tag long
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { startReceiver } from '../contracts/otel/receiver.ts'
import { eventually } from '../eventually.ts'
import { type Ask, expectLinks, expectRoutes } from '../examples/front-page.ts'
import { type Runtime, startNode, startWrangler } from './harness.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

const SERVERS: readonly [name: string, start: (env: Record<string, string>) => Promise<Runtime>][] = [
  ['npm run dev', env => startWrangler({ env })],
  [
    'examples/node.ts',
    env => startNode('examples/node.ts', { env: { NODE_ENV: 'development', DATABASE: ':memory:', ...env } }),
  ],
]

describe.each(SERVERS)('%s', (_, begin) => {
  const serve = async (env: Record<string, string> = {}): Promise<Runtime & { readonly ask: Ask }> => {
    const server = await begin(env)
    onTestFinished(() => server.stop())
    return { ...server, ask: (path, init) => fetch(server.url + path, init) }
  }

  const echo = async (ask: Ask, input: string, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify({ input }) }
    return (await ask('/api/agents/echo/run', init)).json()
  }

  it('serves the examples with nothing set', async () => {
    const { ask, log } = await serve()
    expect(await (await ask('/api/agents')).text()).toContain('"summarizer"')
    await expectLinks(ask)
    // Its log is for people, without being told so: what is served, and each request.
    await eventually(() => {
      expect(log()).toMatch(/servable \S+ {2}\S*\/api\n {2}serves {3}agents /)
      expect(log()).toMatch(/GET {7}200 {6} +[\d.]+ (ms|s) {2}\/api\/agents {2}identity=local\n/)
    })
    expect(log().match(/ {2}serves {3}/g)).toHaveLength(1)

    expect(await echo(ask, 'Write to ada@example.com')).toMatchObject({ text: 'Write to [address]' })

    const body = JSON.stringify({ owner: 'bob', name: 'laptop', scopes: ['run'] })
    const { key } = await (await ask('/api/keys', { method: 'POST', headers: JSON_TYPE, body })).json()
    const authorization = `Bearer ${key}`
    expect(await echo(ask, 'Hello', { authorization })).toMatchObject({ text: 'Hello' })
    expect((await ask('/api/sessions', { headers: { authorization } })).status).toBe(200)
    expect((await ask('/api/sessions', { headers: { authorization: `${authorization}x` } })).status).toBe(401)
  })

  it('knows whoever is on this machine as an administrator: the console and all lists are open', async () => {
    const { ask } = await serve()
    const config = await (await ask('/api/console/config')).json()
    expect(config).toMatchObject({ identity: { id: 'local' }, isLocal: true, listsRuns: true })
    for (const list of ['runs', 'sessions', 'approvals', 'keys', 'schedules', 'webhooks'])
      expect((await ask(`/api/${list}`)).status, list).toBe(200)
    for (const list of ['runs', 'sessions', 'approvals'])
      expect(
        (await ask(`/api/${list}`, { headers: { 'x-forwarded-for': '203.0.113.7' } })).status,
        list,
      ).not.toBe(200)
  })

  it('serves what its first page names to the tokens that are set, and sends its traces', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const tokens = { user: 'token-of-ada', admin: 'token-of-admin' }
    const { ask } = await serve({
      USER_TOKEN: tokens.user,
      ADMIN_TOKEN: tokens.admin,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    })
    await expectRoutes(ask, tokens)
    await echo(ask, 'Hello')
    await eventually(() => expect(receiver.spans.map(({ name }) => name)).toContain('invoke_agent echo'))
  })

  it('shows its traces in its log', async () => {
    const { ask, log } = await serve({ OTEL_TRACES_EXPORTER: 'console' })
    await echo(ask, 'Hello')
    await eventually(() => expect(log()).toMatch(/span {2}invoke_agent echo /))
  })
})
