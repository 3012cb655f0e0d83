/** What must hold of every route, whoever adds it. */
import { describe, expect, it } from 'vitest'
import { everything } from '../../examples/everything.ts'
import { createCore } from '../../src/core/core.ts'
import { routesOf, serve } from '../../src/core/handler.ts'
import { localState } from '../../src/core/local-state.ts'
import type { Route } from '../../src/http/context.ts'
import { SCOPES } from '../../src/http/security/scopes.ts'
import { platform } from '../../src/index.ts'
import { toCoreOptions } from '../../src/options.ts'
import { memoryStore } from '../../src/stores/memory.ts'

const OWN = 'http://127.0.0.1:8787'
const EVIL = 'https://evil.example'

const state = localState({ store: memoryStore(), retention: {}, isVolatile: false })
const options = everything(
  { ADMIN_TOKEN: 'admin' },
  { state, assets: async () => new Response(null, { status: 404 }) },
)
const core = createCore(toCoreOptions({ ...options, cors: false, logger: false }))
const routes = routesOf(core)
const handler = serve(core)

/** A request of a page of another origin, with what the browser remembers. */
function fromPage({ method, path }: Route, headers: Record<string, string>): Promise<Response> {
  const url = OWN + path.replaceAll(/:\w+/g, 'x')
  // Pages send these without a preflight.
  const body = method === 'GET' ? {} : { body: '{"input":"x"}', headers: { 'content-type': 'text/plain' } }
  const init = { method, ...body, headers: { ...Object(body).headers, cookie: 'session=ada', ...headers } }
  return handler(new Request(url, init), platform({ ip: '127.0.0.1' }))
}

const named = (which: (route: Route) => boolean) =>
  routes.filter(which).map(route => [`${route.method} ${route.path}`, route] as const)

const connects = ({ opensConnection = false }: Route) => opensConnection

describe('the routes of a service with everything', () => {
  it('are of all parts', () => {
    // Chat Completions alone are a part of `openai()`.
    const parts = Object.keys(SCOPES).filter(part => part !== 'chat-completions')
    expect(new Set(routes.map(({ part }) => part))).toEqual(new Set([...parts, 'ndjson', 'chat-socket']))
  })
})

describe('a page of another origin', () => {
  it.each(named(route => route.method !== 'GET' || connects(route)))('cannot send %s', async (_, route) => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site', origin: EVIL },
      { origin: EVIL },
      { origin: 'null' },
    ]) {
      const response = await fromPage(route, headers as unknown as Record<string, string>)
      expect(response.status).toBe(403)
      expect(await response.text()).toContain('A page of another origin sent this request')
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  it.each(named(route => route.method === 'GET' && !connects(route)))('cannot read %s', async (_, route) => {
    const response = await fromPage(route, { 'sec-fetch-site': 'cross-site', origin: EVIL })
    await response.body?.cancel()
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('the answers to a program', () => {
  it.each(named(({ method }) => method === 'GET'))('are in no shared cache: %s', async (_, route) => {
    const url = OWN + route.path.replaceAll(/:\w+/g, 'x')
    const response = await handler(new Request(url), platform({ ip: '127.0.0.1' }))
    await response.body?.cancel()
    const control = response.headers.get('cache-control') ?? ''
    expect(control).toMatch(response.status >= 400 ? /no-store/ : /no-store|private|public|no-cache/)
  })
})
