import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { untimedText } from '../../support.ts'
import { expectProblem, jsonRequest, run, stream } from '../http/client.ts'
import type { Host } from '../http/host.ts'
import { LARGE } from './agents.ts'
import {
  accept,
  acceptGated,
  ask,
  beginStream,
  cancel,
  ended,
  type Fields,
  follow,
  get,
  noted,
  openGate,
  own,
  post,
  record,
  resultOf,
  type Server,
  streamRequest,
  textReader,
  uuid,
  withoutComments,
} from './client.ts'

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => String(from + at))
const echo = '/api/agents/echo'
const input = { input: 'one two' }
const background = { ...input, background: true }

export function followingCases(server: Server, { decodesPaths }: Host): void {
  describe('`Prefer: respond-async`', () => asyncCases(server))
  describe('`background`', () => backgroundCases(server))
  describe('`x-run-id`', () => runIdCases(server))
  describe('GET /runs/:id', () => {
    getCases(server)
    if (!decodesPaths) encodingCase(server)
  })
  describe('GET /runs/:id/stream', () => streamCases(server))
  describe('GET /runs/:id/events', () => eventCases(server))
  describe('POST /runs/:id/cancel', () => cancelCases(server))
  describe('DELETE /runs/:id', () => deletionCases(server))
  describe('the methods of stored runs', () => methodCases(server))
  describe('a stored run that fails', () => failureCases(server))
  describe('stored runs and other origins', () => corsCases(server))
}

function asyncCases(server: Server): void {
  it.each([
    ['agents/echo', 'run', 'agent', 'echo'],
    ['agents/echo', 'stream', 'agent', 'echo'],
    ['teams/line', 'run', 'team', 'line'],
    ['workflows/count', 'stream', 'workflow', 'count'],
  ])('answers %s/%s with 202, the place of the run and its record', async (path, route, kind, name) => {
    const answer = await post(server, `/api/${path}/${route}`, input, { prefer: 'respond-async' })
    expect(answer.status).toBe(202)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('preference-applied')).toBe('respond-async')
    const found = JSON.parse(answer.text)
    expect(found).toEqual(record(kind, name, { status: 'running' }))
    expect(answer.headers.get('location')).toBe(`/api/runs/${found.id}`)
    expect(answer.headers.get('x-run-id')).toBe(found.id)
    expect(await ended(server, found.id)).toMatchObject({ status: 'completed', finishReason: 'stop' })
  })

  it('is understood among other preferences', async () => {
    for (const prefer of ['wait=5, respond-async', 'Respond-Async; x=1']) {
      expect((await post(server, `${echo}/run`, input, { prefer })).status).toBe(202)
    }
  })

  it('leaves a request alone that prefers something else', async () => {
    const answer = await post(server, `${echo}/run`, input, { prefer: 'respond-asynchronously' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('preference-applied')).toBeNull()
  })

  it('refuses a bad body before it starts anything', async () => {
    const answer = await post(server, `${echo}/run`, {}, { prefer: 'respond-async' })
    await expectProblem(server, answer, 400, 'invalid_body')
  })
}

function backgroundCases(server: Server): void {
  it('gives the JSON of the run, which can be read again', async () => {
    const result = await run(server, `${echo}/run`, background)
    expect(result).toEqual(resultOf('one two'))
    expect(await get(server, result.runId)).toMatchObject({ status: 'completed', result })
  })

  it('gives the stream of the run, which can be read again', async () => {
    const { headers, messages } = await stream(server, `${echo}/stream`, background)
    expect(messages.map(({ id }) => id)).toEqual(ids(1, 3))
    expect(await follow(server, headers.get('x-run-id') ?? '')).toEqual(messages)
  })

  it('must be true or false', async () => {
    const answer = await post(server, `${echo}/run`, { ...input, background: 'yes' })
    const problem = await expectProblem(server, answer, 400, 'invalid_body')
    expect(problem).toMatchObject({ issues: [{ path: 'background' }] })
  })

  it('lets a client leave its stream: the run goes on to its end', async () => {
    const gate = own('gate')
    const request = jsonRequest({ input: gate, background: true })
    const { id, leave } = await beginStream(server, '/api/agents/gated/stream', request)
    leave()
    await openGate(server, gate)
    expect(await ended(server, id)).toMatchObject({ status: 'completed', result: { text: 'before after' } })
  })

  it('lets a client leave its JSON run: the run goes on to its end', async () => {
    const [gate, owner, leaving] = [own('gate'), own('owner'), new AbortController()]
    const body = { input: gate, background: true }
    const request = { ...jsonRequest(body, { 'x-test-user': owner }), signal: leaving.signal }
    const answer = fetch(`${server().url}/api/agents/gated/run`, request).catch(() => 'left')
    await noted(server, `${gate} started`)
    leaving.abort()
    expect(await answer).toBe('left')
    await openGate(server, gate)
    const headers = { 'x-test-user': owner }
    const [first] = JSON.parse((await ask(server, '/api/runs', { headers })).text).runs
    const found = await ended(server, first.id, headers)
    expect(found).toMatchObject({ status: 'completed', result: { text: 'before after' } })
  })

  it('without it nothing is kept', async () => {
    const { runId } = await run(server, `${echo}/run`)
    const { headers } = await stream(server, `${echo}/stream`)
    for (const id of [runId, headers.get('x-run-id')]) {
      expect((await ask(server, `/api/runs/${id}`)).status).toBe(404)
    }
  })
}

function runIdCases(server: Server): void {
  const id = (answer: { headers: Headers }) => answer.headers.get('x-run-id')

  it('is on answers of every route, plain and followed', async () => {
    for (const body of [input, background]) {
      const answer = await post(server, `${echo}/run`, body)
      expect(id(answer)).toBe(JSON.parse(answer.text).runId)
      expect(id(await stream(server, `${echo}/stream`, body))).toMatch(uuid)
    }
  })

  it('is on failed runs', async () => {
    const path = '/api/agents/throws-late'
    expect(id(await post(server, `${path}/run`, background))).toMatch(uuid)
    expect(id(await stream(server, `${path}/stream`, background))).toMatch(uuid)
  })

  it('is on every later answer about the run', async () => {
    const run = await accept(server, 'agents/echo', input)
    await ended(server, run.id)
    const found = await ask(server, `/api/runs/${run.id}`)
    const followed = await streamRequest(server, run.id)
    await followed.text()
    const refused = await cancel(server, run.id)
    expect([id(found), id(followed), id(refused)]).toEqual([run.id, run.id, run.id])
    const { id: other } = await acceptGated(server)
    expect(id(await cancel(server, other))).toBe(other)
  })
}

function getCases(server: Server): void {
  it('gives the record while the run is at work, and after', async () => {
    const more = { sessionId: 's1', userId: 'claimed' }
    const { id, gate } = await acceptGated(server, {}, more)
    expect(await get(server, id)).toEqual(record('agent', 'gated', { status: 'running', ...more }))
    await openGate(server, gate)
    const result = resultOf('before after', { runId: id })
    const end = { status: 'completed', finishReason: 'stop', result, ...more }
    expect(await ended(server, id)).toEqual(record('agent', 'gated', end))
  })

  it('has no input if none is kept', async () => {
    const { id } = await accept(server, 'agents/echo', input)
    const before = await ended(server, id)
    const answer = await ask(server, `/api/runs/${id}?include=input`)
    expect(JSON.parse(answer.text)).toEqual(before)
    for (const query of ['include=result', 'include=']) {
      const wrong = await ask(server, `/api/runs/${id}?${query}`)
      const problem = await expectProblem(server, wrong, 400, 'invalid_query')
      expect(problem).toMatchObject({ issues: [{ path: 'include' }] })
    }
  })

  it('is not to be cached', async () => {
    const { id } = await accept(server, 'agents/echo', input)
    const { headers } = await ask(server, `/api/runs/${id}`)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('tells that a run waits for more input', async () => {
    const { id } = await accept(server, 'agents/asks', input)
    const end = { status: 'input_required', finishReason: 'input_required', result: { text: 'which city?' } }
    expect(await ended(server, id)).toMatchObject(end)
  })

  it.each(['x', '42', '..%2Fruns', '%F0%9F%98%80', '00000000-0000-4000-8000-000000000000', 'a'.repeat(3000)])(
    'and its siblings know no run %s',
    async id => {
      for (const suffix of ['', '/stream']) {
        await expectProblem(server, await ask(server, `/api/runs/${id}${suffix}`), 404, 'run_not_found')
      }
      await expectProblem(server, await cancel(server, id), 404, 'run_not_found')
    },
  )
}

function encodingCase(server: Server): void {
  it('refuses broken percent-encoding', async () => {
    await expectProblem(server, await ask(server, '/api/runs/%zz'), 400, 'invalid_path')
  })
}

function eventCases(server: Server): void {
  const page = async (id: string, query = '', headers: Fields = {}) =>
    ask(server, `/api/runs/${id}/events${query}`, { headers })

  it('gives the events of the stream, page by page', async () => {
    const { runId } = await run(server, '/api/agents/counts/run', { input: '10', background: true })
    const told = await (await streamRequest(server, `${runId}`)).text()
    const whole = await page(`${runId}`)
    expect(whole.status).toBe(200)
    expect(whole.headers.get('content-type')).toBe('application/json')
    expect(whole.headers.get('cache-control')).toBe('no-store')
    expect(whole.headers.get('x-run-id')).toBe(runId)
    const { events, next, ended } = JSON.parse(whole.text)
    expect([next, ended]).toEqual([11, true])
    const lines = events.map(
      ({ id, event }: { id: number; event: object }) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    expect(withoutComments(told)).toBe(lines.join(''))
    const part = JSON.parse((await page(`${runId}`, '?after=3&limit=4')).text)
    expect(part).toEqual({ events: events.slice(3, 7), next: 7, ended: false })
    expect(JSON.parse((await page(`${runId}`, '?after=11')).text)).toEqual({
      events: [],
      next: 11,
      ended: true,
    })
  })

  it('ends a page whose events are long', async () => {
    const { id } = await accept(server, 'agents/large', input)
    await ended(server, id)
    const lengths: number[] = []
    let after = 0
    for (let hasEnded = false; !hasEnded; ) {
      const { events, next, ended } = JSON.parse((await page(id, `?after=${after}`)).text)
      lengths.push(events.length)
      after = next
      hasEnded = ended
    }
    expect(lengths.slice(0, 3)).toEqual([1, 1, 1])
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(LARGE.texts + LARGE.words + 1)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(1000)
  })

  it('gives what there is of a run at work, to nobody else', async () => {
    const owner = { 'x-test-user': own('owner') }
    const { id, gate } = await acceptGated(server, owner)
    await eventually(async () => {
      const { events, ended } = JSON.parse((await page(id, '', owner)).text)
      expect([events.length, ended]).toEqual([1, false])
    })
    await expectProblem(server, await page(id), 404, 'run_not_found')
    await openGate(server, gate)
    await ended(server, id, owner)
    expect(JSON.parse((await page(id, '?after=1', owner)).text)).toMatchObject({ next: 3, ended: true })
  })

  it.each(['after=x', 'after=-1', 'limit=0', 'limit=1001', 'limit=x'])('refuses ?%s', async query => {
    const { id } = await accept(server, 'agents/echo', input)
    const problem = await expectProblem(server, await page(id, `?${query}`), 400, 'invalid_query')
    expect(problem).toMatchObject({ issues: [{ path: query.replace(/=.*/, '') }] })
  })
}

function streamCases(server: Server): void {
  it('gives the whole run in the very bytes of its first stream', async () => {
    const request = jsonRequest({ input: '30', background: true })
    const first = await fetch(`${server().url}/api/agents/counts/stream`, request)
    const text = withoutComments(await first.text())
    expect(text.match(/^data: .*"at":\d+\}$/gm)).toHaveLength(31)
    const again = await streamRequest(server, first.headers.get('x-run-id') ?? '')
    expect(withoutComments(await again.text())).toBe(text)
    for (const name of ['content-type', 'cache-control', 'x-accel-buffering', 'x-run-id']) {
      expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)])
    }
  })

  it('begins after the event of `Last-Event-ID` or `?after=`; the header is the stronger one', async () => {
    const { runId } = await run(server, '/api/agents/counts/run', { input: '10', background: true })
    const idsOf = async (query: string, headers?: Record<string, string>) =>
      (await follow(server, `${runId}`, headers, query)).map(({ id }) => id)
    expect(await idsOf('', { 'last-event-id': '4' })).toEqual(ids(5, 11))
    expect(await idsOf('?after=7')).toEqual(ids(8, 11))
    expect(await idsOf('?after=7', { 'last-event-id': '9' })).toEqual(ids(10, 11))
    expect(await idsOf('?after=0')).toEqual(ids(1, 11))
    expect(await idsOf('?after=11')).toEqual([])
    expect(await idsOf('?after=999999999999999')).toEqual([])
  })

  it.each(['x', '-1', '1.5', '1e3', '0x1', '٣', '1 2', '1234567890123456'])(
    'refuses to begin after %s',
    async after => {
      const { id } = await accept(server, 'agents/echo', input)
      const path = `/api/runs/${id}/stream?after=${encodeURIComponent(after)}`
      await expectProblem(server, await ask(server, path), 400, 'invalid_query')
      if (after === '٣') return
      const answer = await ask(server, `/api/runs/${id}/stream`, { headers: { 'last-event-id': after } })
      await expectProblem(server, answer, 400, 'invalid_query')
    },
  )

  it('goes on live to the end', async () => {
    const { id, gate } = await acceptGated(server)
    const response = await streamRequest(server, id)
    const { more, rest } = textReader(response)
    expect(untimedText(await more())).toBe('id: 1\ndata: {"type":"text","text":"before "}\n\n')
    await openGate(server, gate)
    const text = await rest()
    expect(untimedText(text)).toBe(
      'id: 2\ndata: {"type":"text","text":"after"}\n\nid: 3\ndata: {"type":"finish","finishReason":"stop"}\n\n',
    )
  })

  it('waits for what is to come after the last event', async () => {
    const { id, gate } = await acceptGated(server)
    const following = follow(server, id, { 'last-event-id': '1' })
    await openGate(server, gate)
    expect((await following).map(message => message.id)).toEqual(['2', '3'])
  })

  it('is open at once where there is nothing to tell yet', async () => {
    const { id, gate } = await acceptGated(server)
    const response = await streamRequest(server, id, { 'last-event-id': '1' })
    await openGate(server, gate)
    // Without an opening comment, the head would come only with the first keep-alive.
    expect(await response.text()).not.toContain('keep-alive')
  })
}

function cancelCases(server: Server): void {
  it('ends the run and its streams, and the agent hears of it', async () => {
    const { id, gate } = await acceptGated(server)
    const following = follow(server, id)
    const answer = await cancel(server, id)
    expect(answer.status).toBe(200)
    const result = resultOf('before ', { runId: id, finishReason: 'cancelled' })
    const end = { status: 'cancelled', finishReason: 'cancelled', result }
    expect(JSON.parse(answer.text)).toEqual(record('agent', 'gated', end))
    expect((await following).at(-1)?.event).toEqual({ type: 'finish', finishReason: 'cancelled' })
    await noted(server, `${gate} stopped`)
  })

  it('answers the same for a run that is cancelled already', async () => {
    const { id } = await acceptGated(server)
    const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(server, id)))
    const last = await cancel(server, id)
    for (const answer of [...answers, last]) expect([answer.status, answer.text]).toEqual([200, last.text])
  })

  it.each([
    ['echo', 'completed'],
    ['throws-late', 'failed'],
  ])('refuses a run of %s that has ended, naming its state', async (name, state) => {
    const { id } = await accept(server, `agents/${name}`, input)
    const before = await ended(server, id)
    const problem = await expectProblem(server, await cancel(server, id), 409, 'run_ended')
    expect(problem.detail).toContain(state)
    expect(await get(server, id)).toEqual(before)
  })

  it('gives the one who waits for the JSON what was said so far', async () => {
    const [gate, owner] = [own('gate'), own('owner')]
    const headers = { 'x-test-user': owner }
    const waiting = post(server, '/api/agents/gated/run', { input: gate, background: true }, headers)
    await noted(server, `${gate} started`)
    const [first] = JSON.parse((await ask(server, '/api/runs', { headers })).text).runs
    await cancel(server, first.id, headers)
    const answer = await waiting
    expect(answer.status).toBe(200)
    const cancelled = { runId: first.id, finishReason: 'cancelled' }
    expect(JSON.parse(answer.text)).toEqual(resultOf('before ', cancelled))
  })
}

function deletionCases(server: Server): void {
  const remove = (id: string, headers: Fields = {}) =>
    ask(server, `/api/runs/${id}`, { method: 'DELETE', headers })

  it('deletes a run that has ended, with its record, its events and its place in the list', async () => {
    const headers = { 'x-test-user': own('deleter') }
    const { id } = await accept(server, 'agents/echo', input, headers)
    await ended(server, id, headers)
    const answer = await remove(id, headers)
    expect([answer.status, answer.text]).toEqual([204, ''])
    for (const path of [`/api/runs/${id}`, `/api/runs/${id}/stream`, `/api/runs/${id}/events`]) {
      await expectProblem(server, await ask(server, path, { headers }), 404, 'run_not_found')
    }
    await expectProblem(server, await remove(id, headers), 404, 'run_not_found')
    const { runs } = JSON.parse((await ask(server, '/api/runs', { headers })).text)
    expect(runs).toEqual([])
  })

  it('refuses a run that is at work, and one of somebody else', async () => {
    const headers = { 'x-test-user': own('deleter-at-work') }
    const { id } = await acceptGated(server, headers)
    await expectProblem(server, await remove(id, headers), 409, 'session_busy')
    await expectProblem(server, await remove(id, { 'x-test-user': own('other') }), 404, 'run_not_found')
    await cancel(server, id, headers)
    await ended(server, id, headers)
    expect((await remove(id, headers)).status).toBe(204)
  })
}

function methodCases(server: Server): void {
  it('answer HEAD as GET, without the body', async () => {
    const { runId } = await run(server, `${echo}/run`, background)
    for (const path of [`/api/runs/${runId}`, `/api/runs/${runId}/stream`]) {
      const answer = await ask(server, path, { method: 'HEAD' })
      expect([answer.status, answer.text]).toEqual([200, ''])
    }
    const head = await ask(server, '/api/runs', { method: 'HEAD', headers: { 'x-test-user': own('owner') } })
    expect([head.status, head.text]).toEqual([200, ''])
  })

  it.each([
    ['PUT', '', 'DELETE, GET, HEAD, OPTIONS'],
    ['PATCH', '', 'DELETE, GET, HEAD, OPTIONS'],
    ['DELETE', '/stream', 'GET, HEAD, OPTIONS'],
    ['POST', '/stream', 'GET, HEAD, OPTIONS'],
    ['GET', '/cancel', 'OPTIONS, POST'],
  ])('refuse %s %s', async (method, suffix, allow) => {
    const { id } = await accept(server, 'agents/echo', input)
    const answer = await ask(server, `/api/runs/${id}${suffix}`, { method })
    await expectProblem(server, answer, 405, 'method_not_allowed')
    expect(answer.headers.get('allow')).toBe(allow)
  })

  it('refuse POST to the list', async () => {
    const answer = await post(server, '/api/runs', input)
    await expectProblem(server, answer, 405, 'method_not_allowed')
  })
}

function failureCases(server: Server): void {
  it.each([
    ['throws-late', 500, 'agent_failed', 'Internal server error'],
    ['throws-for-the-caller', 400, 'invalid_input', 'name a city'],
    ['throws-for-the-provider', 502, 'provider_failed', 'Internal server error'],
    ['yields-null', 500, 'invalid_event', 'Internal server error'],
  ])('answers JSON with the problem of %s', async (name, status, code, detail) => {
    const answer = await post(server, `/api/agents/${name}/run`, background)
    expect((await expectProblem(server, answer, status, code)).detail).toBe(detail)
    const id = answer.headers.get('x-run-id') ?? ''
    const error = { code, message: detail }
    expect(await get(server, id)).toEqual(record('agent', name, { status: 'failed', error }))
    const last = (await follow(server, id)).at(-1)
    expect(last?.event).toEqual({ type: 'error', error: detail, code })
  })
}

function corsCases(server: Server): void {
  const origin = 'https://app.example'

  it('may read where the run is', async () => {
    const headers = { origin, prefer: 'respond-async' }
    const answer = await post(server, `${echo}/run`, input, headers)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toEqual(expect.arrayContaining(['location', 'x-run-id']))
  })

  it('may ask for it, and for its events', async () => {
    for (const [path, method] of [
      [`${echo}/run`, 'POST'],
      ['/api/runs/x/stream', 'GET'],
    ] as const) {
      const headers = { origin, 'access-control-request-method': method }
      const answer = await ask(server, path, { method: 'OPTIONS', headers })
      expect(answer.status).toBe(204)
      const allowed = answer.headers.get('access-control-allow-headers')?.split(', ')
      expect(allowed).toEqual(expect.arrayContaining(['prefer', 'idempotency-key', 'last-event-id']))
    }
  })
}
