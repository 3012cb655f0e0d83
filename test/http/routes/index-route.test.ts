import { describe, expect, it } from 'vitest'
import { bearerAuth, createHandler, type HandlerOptions, MetricsExporter } from '../../../src/index.ts'

const make = (options: HandlerOptions = {}) => {
  const handler = createHandler({ logger: false, ...options })
  return (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1${path}`, init))
}

const everything: HandlerOptions = {
  a2a: true,
  gateway: true,
  metricsExporter: new MetricsExporter(),
  swagger: { enabled: true, assets: () => new Response() },
  toolkits: [{ name: 'kit', tools: [] }],
}

/** Whether nothing is there: `runs` answers 404 as well, to those who have no identity. */
async function notFound(asked: Promise<Response>): Promise<boolean> {
  const answer = await asked
  return answer.status === 404 && (await answer.text()).includes('Nothing is served')
}

describe('the index', () => {
  it('links to all that is mounted', async () => {
    const answer = await make(everything)('/api')
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.json()).toEqual({
      _links: {
        self: { href: '/api' },
        docs: { href: '/api/docs' },
        spec: { href: '/api/docs/spec.json' },
        agents: { href: '/api/agents' },
        teams: { href: '/api/teams' },
        workflows: { href: '/api/workflows' },
        registry: { href: '/api/registry' },
        run: { href: '/api/agents/{name}/run', templated: true },
        stream: { href: '/api/agents/{name}/stream', templated: true },
        runs: { href: '/api/runs' },
        tools: { href: '/api/tools' },
        health: { href: '/api/health' },
        metrics: { href: '/api/metrics' },
        card: { href: '/.well-known/agent-card.json' },
        a2a: { href: '/' },
        socket: { href: '/socket.io' },
      },
    })
  })

  it('links to nothing that is not', async () => {
    const { _links } = await (await make({ registry: false, prefix: '/v1' })('/v1/')).json()
    expect(Object.keys(_links)).toEqual(['self', 'run', 'stream', 'runs', 'health'])
  })

  it('leads to what answers', async () => {
    const ask = make(everything)
    const { _links } = await (await ask('/api')).json()
    for (const { href, templated } of Object.values<{ href: string; templated?: true }>(_links)) {
      if (templated !== true) expect([href, await notFound(ask(href))]).toEqual([href, false])
    }
  })

  it('is as protected as the rest', async () => {
    const ask = make({ ...everything, middleware: [bearerAuth({ tokens: { secret: 'ada' } })] })
    expect((await ask('/api')).status).toBe(401)
    expect((await ask('/api', { headers: { authorization: 'Bearer secret' } })).status).toBe(200)
  })

  it("leaves the host's own page at the root in place", async () => {
    const fallback = () => new Response('home')
    expect(await (await make({ prefix: '/', fallback })('/')).text()).toBe('home')
    expect(await (await make({ prefix: '/' })('/')).json()).toMatchObject({ _links: { self: { href: '/' } } })
  })
})

describe('whoever has come to the wrong place', () => {
  it.each([
    ['GET', '/', 405],
    ['GET', '/nowhere', 404],
    ['DELETE', '/api/agents', 405],
  ])('is told where to look: %s %s', async (method, path, status) => {
    const answer = await make(everything)(path, { method })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('link')).toBe(
      '</api>; rel="index", </api/docs>; rel="service-doc", </api/docs/spec.json>; rel="service-desc"',
    )
  })
})
