import { expect, it } from 'vitest'
import { everything, type Variables } from '../../examples/everything.ts'
import { platform } from '../../src/http/platform.ts'
import { createHandler, Registry } from '../../src/index.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { type Ask, expectRoutes } from './front-page.ts'
import { PLUGINS } from './plugins.ts'

const TOKENS = { user: 'token-of-ada', admin: 'token-of-admin' }

/** The examples, as a client asks them. */
function asking(variables: Variables): Ask {
  const state = sqliteState({ path: ':memory:' })
  const options = everything(variables, { state, assets: () => new Response() })
  const handler = createHandler({ ...options, registry: new Registry(), logger: false })
  return (path, init) => handler(new Request(`http://127.0.0.1${path}`, init), platform({ ip: '127.0.0.1' }))
}

const ask = asking({
  USER_TOKEN: TOKENS.user,
  ADMIN_TOKEN: TOKENS.admin,
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
})

const pluginsOf = async (from: Ask): Promise<string[]> =>
  (await (await from('/api/console/config')).json()).plugins

it('the front page names what is there, for whom it says', async () => {
  const page = await ask('/')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  await expectRoutes(ask, TOKENS)
})

it('the examples have every plugin of the package', async () => {
  expect(PLUGINS.length).toBeGreaterThan(20)
  expect(await pluginsOf(ask)).toEqual(expect.arrayContaining([...PLUGINS]))
})

it('the examples have no administrator, no keys and no traces where nobody has set them up', async () => {
  const set = ['admin', 'keys', 'otel']
  expect(await pluginsOf(asking({}))).toEqual((await pluginsOf(ask)).filter(name => !set.includes(name)))
})

it('the front page leaves A2A its messages', async () => {
  const answer = await ask(
    '/',
    jsonRequest({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'none' } }),
  )
  expect(await answer.json()).toMatchObject({ error: { code: -32001 } })
})
