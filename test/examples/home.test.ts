import { expect, it } from 'vitest'
import * as agents from '../../examples/agents.ts'
import { home } from '../../examples/home.ts'
import { ndjson } from '../../examples/ndjson.ts'
import { webConsole } from '../../src/console/plugin.ts'
import { createHandler, MetricsExporter, Registry } from '../../src/index.ts'
import { openai } from '../../src/openai/plugin.ts'

const handler = createHandler({
  registry: new Registry(),
  serve: Object.values(agents),
  middleware: [home],
  a2a: { default: 'echo' },
  gateway: true,
  metricsExporter: new MetricsExporter(),
  swagger: { enabled: true, assets: () => new Response() },
  plugins: [ndjson(), openai(), webConsole()],
  logger: false,
})
const ask = (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1${path}`, init))

it('the front page links to pages that are there', async () => {
  const page = await ask('/')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const links = Array.from((await page.text()).matchAll(/href="([^"]+)"/g), ([, href]) => href ?? '')
  expect(links.length).toBeGreaterThan(5)
  for (const href of links) expect([href, (await ask(href)).status]).toEqual([href, 200])
})

it('the front page leaves A2A its messages', async () => {
  const answer = await ask('/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"none"}}',
  })
  expect(await answer.json()).toMatchObject({ error: { code: -32001 } })
})
