import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { SECRET } from '../fixture/misbehaving.ts'
import { ask, expectProblem, jsonRequest, post, run, type Server, stream } from './client.ts'
import type { Host } from './host.ts'

const echo = '/api/agents/echo/run'
const home = 'https://app.example'
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

export function surroundingCases(server: Server, { decodesPaths }: Host): void {
  describe('`middleware`', () => middlewareCases(server))
  describe('identity', () => identityCases(server))
  describe('`cors`', () => {
    corsCases(server)
    if (!decodesPaths) brokenPathCase(server)
  })
  describe('a CORS preflight', () => preflightCases(server))
  describe('`x-request-id`', () => requestIdCases(server))
  describe('`fallback`', () => fallbackCases(server))
}

function middlewareCases(server: Server): void {
  it('wraps runs, streams, lists and refusals', async () => {
    const answers = await Promise.all([
      post(server, echo, { input: 'x' }),
      ask(server, '/api/agents'),
      ask(server, echo),
      ask(server, '/dev/nothing'),
    ])
    const marks = answers.map(({ headers }) => headers.get('x-middleware'))
    expect(marks).toEqual(['router', 'router', 'router', null])
    const { headers } = await stream(server, '/api/agents/echo/stream')
    expect(headers.get('x-middleware')).toBe('router')
  })

  it('may answer itself', async () => {
    const answer = await post(server, echo, { input: 'x' }, { 'x-test-middleware': 'refuse' })
    expect([answer.status, answer.text]).toEqual([401, 'refused'])
    expect(answer.headers.get('x-request-id')).toMatch(uuid)
  })

  it('may throw, and no client sees what', async () => {
    const headers = { 'x-test-middleware': 'throw', 'x-api-key': 'sk-test-middleware' }
    const answer = await post(server, echo, { input: 'x' }, headers)
    await expectProblem(server, answer, 500, 'internal_error')
    const log = () => server().log()
    const requestId = answer.headers.get('x-request-id') ?? ''
    await eventually(() => expect(log()).toContain(requestId))
    const entry = log()
      .split('\n')
      .find(line => line.includes(requestId))
    expect(entry).toContain(SECRET)
    expect(entry).not.toContain('sk-test-middleware')
  })

  it('may forget to answer', async () => {
    const answer = await post(server, echo, { input: 'x' }, { 'x-test-middleware': 'nothing' })
    await expectProblem(server, answer, 500, 'internal_error')
  })
}

function identityCases(server: Server): void {
  const body = { input: 'x', userId: 'claimed' }

  it('overrides the `userId` of the body', async () => {
    const { structured } = await run(server, '/api/agents/told/run', body, { 'x-test-user': 'proven' })
    expect(structured).toMatchObject({ userId: 'proven' })
    const { events } = await stream(server, '/api/agents/told/stream', body, { 'x-test-user': 'proven' })
    expect(events.at(-1)).toMatchObject({ structured: { userId: 'proven' } })
  })

  it('stands for a `userId` that the body does not give', async () => {
    const { structured } = await run(
      server,
      '/api/agents/told/run',
      { input: 'x' },
      { 'x-test-user': 'proven' },
    )
    expect(structured).toMatchObject({ userId: 'proven' })
  })

  it('leaves the `userId` of the body where there is none', async () => {
    expect((await run(server, '/api/agents/told/run', body)).structured).toMatchObject({ userId: 'claimed' })
  })
}

function brokenPathCase(server: Server): void {
  it('lets a named origin read that a path is broken', async () => {
    const headers = { origin: home }
    const answer = await ask(server, '/api/agents/%zz/run', { method: 'POST', headers })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([400, home])
  })
}

function corsCases(server: Server): void {
  const allowed = (headers: Headers) => headers.get('access-control-allow-origin')

  it('lets a named origin read answers, and headers that are its business', async () => {
    const { headers } = await post(server, echo, { input: 'x' }, { origin: home })
    expect(allowed(headers)).toBe(home)
    expect(headers.get('vary')).toContain('origin')
    const exposed = headers.get('access-control-expose-headers')
    for (const name of ['x-run-id', 'x-request-id', 'retry-after']) expect(exposed).toContain(name)
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('lets a named origin read streams', async () => {
    const { headers } = await stream(server, '/api/agents/echo/stream', undefined, { origin: home })
    expect(allowed(headers)).toBe(home)
  })

  it.each(['https://evil.example', 'https://app.example.evil', 'http://app.example', 'null'])(
    'takes nothing from a page of %s, and tells it nothing',
    async origin => {
      const answer = await post(server, echo, { input: 'x' }, { origin })
      await expectProblem(server, answer, 403, 'cross_site_request')
      const { headers } = answer
      expect(allowed(headers)).toBeNull()
      expect(headers.get('vary')).toContain('origin')
    },
  )

  it('lets a named origin read errors of every kind', async () => {
    const origin = { origin: home }
    const answers = await Promise.all([
      post(server, echo, {}, origin),
      post(server, '/api/agents/nobody/run', { input: 'x' }, origin),
      post(server, '/api/agents/throws-late/run', { input: 'x' }, origin),
      ask(server, echo, { headers: origin }),
      ask(server, '/api/nothing', { headers: origin }),
      post(server, echo, { input: 'x' }, { ...origin, 'x-test-middleware': 'refuse' }),
      post(server, echo, { input: 'x' }, { ...origin, 'x-test-middleware': 'throw' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([400, 404, 500, 405, 404, 401, 500])
    expect(answers.map(({ headers }) => allowed(headers))).toEqual(answers.map(() => home))
  })

  it('can be open to every origin', async () => {
    const answer = await post(
      server,
      '/closed/agents/shout/run',
      { input: 'x' },
      { origin: 'https://any.one' },
    )
    expect(allowed(answer.headers)).toBe('*')
  })

  it('is off by default', async () => {
    const answer = await post(server, '/own/agents/mine/run', { input: 'x' }, { origin: home })
    await expectProblem(server, answer, 403, 'cross_site_request')
    expect(allowed(answer.headers)).toBeNull()
  })
}

function preflightCases(server: Server): void {
  const preflight = (path: string, headers: Record<string, string> = {}) =>
    ask(server, path, {
      method: 'OPTIONS',
      headers: { origin: home, 'access-control-request-method': 'POST', ...headers },
    })

  it('is answered with methods, headers and how long to keep it', async () => {
    const { status, headers, text } = await preflight(echo)
    expect([status, text]).toEqual([204, ''])
    expect(headers.get('access-control-allow-origin')).toBe(home)
    expect(headers.get('access-control-allow-methods')).toBe('OPTIONS, POST')
    expect(headers.get('access-control-max-age')).toBe('600')
    expect(headers.get('vary')).toContain('origin')
  })

  it('allows the headers that clients send, the key headers among them', async () => {
    const { headers } = await preflight(echo)
    const allowed = headers.get('access-control-allow-headers')?.split(', ')
    expect(allowed).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'last-event-id',
        'x-api-key',
        'x-provider-a-api-key',
        'x-provider-b-api-key',
        'x-provider-c-api-key',
        'x-acme-api-key',
      ]),
    )
  })

  it('comes before middleware', async () => {
    const { status, headers } = await preflight(echo, { 'x-test-middleware': 'refuse' })
    expect(status).toBe(204)
    expect(headers.get('x-middleware')).toBeNull()
  })

  it('gives a foreign origin no leave', async () => {
    const { headers } = await preflight(echo, { origin: 'https://evil.example' })
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  it('is not what an OPTIONS without its headers is', async () => {
    const answer = await ask(server, echo, { method: 'OPTIONS', headers: { origin: home } })
    expect(answer.headers.get('access-control-allow-methods')).toBeNull()
    expect(answer.headers.get('x-middleware')).toBe('router')
  })
}

function requestIdCases(server: Server): void {
  it('is made for a request that has none', async () => {
    const ids = await Promise.all([1, 2].map(async () => (await post(server, echo, { input: 'x' })).headers))
    const [first, second] = ids.map(headers => headers.get('x-request-id'))
    expect(first).toMatch(uuid)
    expect(first).not.toBe(second)
  })

  it('is kept where it is well formed', async () => {
    const id = 'trace:01.a_b-C'
    const { headers } = await post(server, echo, { input: 'x' }, { 'x-request-id': id })
    expect(headers.get('x-request-id')).toBe(id)
    const problem = await post(server, echo, {}, { 'x-request-id': id })
    expect(JSON.parse(problem.text).requestId).toBe(id)
  })

  it.each(['two words', 'a,b', '<b>', 'x'.repeat(129), 'é'])('is made anew for %j', async id => {
    const { headers } = await post(server, echo, { input: 'x' }, { 'x-request-id': id })
    expect(headers.get('x-request-id')).toMatch(uuid)
  })

  it('is on lists and streams', async () => {
    expect((await ask(server, '/api/agents')).headers.get('x-request-id')).toMatch(uuid)
    const { headers } = await stream(server, '/api/agents/echo/stream')
    expect(headers.get('x-request-id')).toMatch(uuid)
  })
}

function fallbackCases(server: Server): void {
  it('answers what matches no route, its answer untouched', async () => {
    const answer = await ask(server, '/probe/notes')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-request-id')).toBeNull()
    expect(answer.headers.get('x-middleware')).toBeNull()
  })

  it('gets the body of a request that matches no route', async () => {
    const response = await ask(server, '/dev/agents/echo/run', jsonRequest({ input: 'passed on' }))
    expect(JSON.parse(response.text).text).toBe('passed on')
  })
}
