import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../../src/index.ts'
import { expectProblem, run } from '../http/client.ts'
import {
  accept,
  acceptGated,
  as,
  ask,
  cancel,
  ended,
  type Fields,
  follow,
  get,
  list,
  own,
  post,
  record,
  type Server,
} from './client.ts'

const input = { input: 'one two' }

export function ownerCases(server: Server): void {
  describe('a run with an owner', () => ownedCases(server))
  describe('GET /runs', () => listCases(server))
  describe('GET /runs without an identity', () => anonymousCases(server))
}

function ownedCases(server: Server): void {
  it.each([
    ['another identity', as('somebody else')],
    ['nobody', {}],
  ])('is not there for %s', async (_, other: Fields) => {
    const owner = as(own('owner'))
    const { id } = await acceptGated(server, owner)
    const unknown = crypto.randomUUID()
    for (const suffix of ['', '/stream']) {
      const answer = await ask(server, `/api/runs/${id}${suffix}`, { headers: other })
      const problem = await expectProblem(server, answer, 404, 'run_not_found')
      const none = await ask(server, `/api/runs/${unknown}${suffix}`, { headers: other })
      expect(problem).toEqual({ ...JSON.parse(none.text), requestId: problem.requestId })
    }
    await expectProblem(server, await cancel(server, id, other), 404, 'run_not_found')
    expect(await get(server, id, owner)).toMatchObject({ status: 'running' })
    expect((await cancel(server, id, owner)).status).toBe(200)
    await expectProblem(server, await cancel(server, id, other), 404, 'run_not_found')
  })

  it('is in no list of another', async () => {
    const { id } = await accept(server, 'agents/echo', input, as(own('owner')))
    const { runs } = await list(server, '', as(own('other')))
    expect(runs).toEqual([])
    expect(await listOpen(server)).not.toContain(id)
  })

  it('is followed by its owner', async () => {
    const owner = as(own('owner'))
    const { id } = await accept(server, 'agents/echo', input, owner)
    expect((await follow(server, id, owner)).map(message => message.id)).toEqual(['1', '2', '3'])
  })

  it('is of the user that the identity names, not of the one in the body', async () => {
    const user = own('owner')
    const { id } = await accept(server, 'agents/told', { ...input, userId: 'claimed' }, as(user))
    const found = await ended(server, id, as(user))
    expect(found).toMatchObject({ userId: user, result: { structured: { userId: user } } })
  })

  it('without an owner it is there for everyone who knows its id', async () => {
    const { runId } = await run(server, '/api/agents/echo/run', { ...input, background: true })
    expect(await get(server, runId, as(own('other')))).toMatchObject({ status: 'completed' })
    expect((await list(server, '', as(own('other')))).runs).toEqual([])
  })
}

async function listOpen(server: Server): Promise<string[]> {
  const { runs } = JSON.parse((await ask(server, '/open/runs?limit=100')).text)
  return runs.map(({ id }: RunRecord) => id)
}

/** Starts runs one after another, so that each is newer than the one before. */
async function startAll(
  server: Server,
  owner: Fields,
  runs: readonly (readonly [path: string, body: object])[],
): Promise<RunRecord[]> {
  const started: RunRecord[] = []
  for (const [path, body] of runs) {
    started.unshift(await accept(server, path, { ...input, ...body }, owner))
    while (Date.now() <= Date.parse(started[0]!.createdAt)) await Promise.resolve()
  }
  return started
}

const idsIn = ({ runs }: { runs: readonly RunRecord[] }) => runs.map(({ id }) => id)

function listCases(server: Server): void {
  it('gives an owner its runs, newest first, without their results', async () => {
    const owner = as(own('owner'))
    const started = await startAll(server, owner, [
      ['agents/echo', { sessionId: 's1' }],
      ['teams/line', {}],
      ['workflows/count', {}],
    ])
    for (const { id } of started) await ended(server, id, owner)
    const page = await list(server, '', owner)
    expect(page.nextCursor).toBeNull()
    const done = { userId: owner['x-test-user'], status: 'completed', finishReason: 'stop' }
    expect(page.runs).toEqual([
      record('workflow', 'count', { ...done, id: started[0]?.id }),
      record('team', 'line', { ...done, id: started[1]?.id }),
      record('agent', 'echo', { ...done, id: started[2]?.id, sessionId: 's1' }),
    ])
  })

  it('filters by kind, name, session and status, and by all of them', async () => {
    const owner = as(own('owner'))
    const [count, failed, told, echo] = await startAll(server, owner, [
      ['agents/echo', { sessionId: 's1' }],
      ['agents/told', { sessionId: 's2' }],
      ['agents/throws-late', { sessionId: 's1' }],
      ['workflows/count', {}],
    ])
    for (const each of [count, failed, told, echo]) await ended(server, each!.id, owner)
    const { id: running } = await acceptGated(server, owner, { sessionId: 's1' })
    const { id: cancelled } = await acceptGated(server, owner)
    await cancel(server, cancelled, owner)
    const find = async (query: string) => idsIn(await list(server, query, owner))
    expect(await find('?kind=workflow')).toEqual([count?.id])
    expect(await find('?kind=team')).toEqual([])
    expect(await find('?name=echo')).toEqual([echo?.id])
    expect(await find('?sessionId=s1')).toEqual([running, failed?.id, echo?.id])
    expect(await find('?status=running')).toEqual([running])
    expect(await find('?status=failed')).toEqual([failed?.id])
    expect(await find('?status=cancelled')).toEqual([cancelled])
    expect(await find('?status=completed')).toEqual([count?.id, told?.id, echo?.id])
    expect(await find('?kind=agent&name=echo&sessionId=s1&status=completed')).toEqual([echo?.id])
    expect(await find('?kind=agent&name=echo&sessionId=s2')).toEqual([])
  })

  it('filters by the time at which runs began', async () => {
    const owner = as(own('owner'))
    const [c, b, a] = await startAll(
      server,
      owner,
      ['agents/echo', 'agents/echo', 'teams/line'].map(path => [path, {}]),
    )
    const find = async (query: string) => idsIn(await list(server, query, owner))
    const zoned = b!.createdAt.replace('Z', '%2B00:00')
    expect(await find(`?since=${b!.createdAt}`)).toEqual([c!.id, b!.id])
    expect(await find(`?until=${zoned}`)).toEqual([a!.id])
    expect(await find(`?since=${zoned}&until=${c!.createdAt}`)).toEqual([b!.id])
    expect(await find(`?until=${c!.createdAt}&kind=agent`)).toEqual([b!.id, a!.id])
    const first = await list(server, `?until=${c!.createdAt}&limit=1`, owner)
    expect(await find(`?until=${c!.createdAt}&limit=1&cursor=${first.nextCursor}`)).toEqual([a!.id])
    expect(await find(`?since=${c!.createdAt}&until=${a!.createdAt}`)).toEqual([])
  })

  it('shows the status that the run has for the one who just saw it end', async () => {
    const owner = as(own('owner'))
    for (let round = 0; round < 5; round++) {
      const { runId } = await run(server, '/api/agents/echo/run', { ...input, background: true }, owner)
      const { runs } = await list(server, '?limit=1', owner)
      expect(runs).toMatchObject([{ id: runId, status: 'completed' }])
      expect(idsIn(await list(server, '?status=completed&limit=1', owner))).toEqual([runId])
      expect((await list(server, '?status=running', owner)).runs).toEqual([])
    }
  })

  it('pages with a cursor, each run once, while new ones come', async () => {
    const owner = as(own('owner'))
    const started = await Promise.all(
      Array.from({ length: 23 }, () => accept(server, 'agents/echo', input, owner)),
    )
    const seen: string[] = []
    let cursor: string | null = ''
    for (let pages = 0; cursor !== null; pages++) {
      expect(pages).toBeLessThan(5)
      const page: Awaited<ReturnType<typeof list>> = await list(server, `?limit=5${cursor}`, owner)
      seen.push(...idsIn(page))
      cursor = page.nextCursor && `&cursor=${encodeURIComponent(page.nextCursor)}`
      await accept(server, 'agents/echo', input, owner)
    }
    expect(seen).toHaveLength(23)
    expect(new Set(seen)).toEqual(new Set(started.map(({ id }) => id)))
  })

  it('pages through a filter', async () => {
    const owner = as(own('owner'))
    const paths = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? 'agents/echo' : 'teams/line'))
    await startAll(
      server,
      owner,
      paths.map(path => [path, {}]),
    )
    const first = await list(server, '?kind=team&limit=2', owner)
    const second = await list(server, `?kind=team&limit=2&cursor=${first.nextCursor}`, owner)
    expect([first.runs.length, second.runs.length, second.nextCursor]).toEqual([2, 1, null])
    expect(new Set([...idsIn(first), ...idsIn(second)]).size).toBe(3)
  })

  it.each([
    ['kind=robot', 'kind'],
    ['status=done', 'status'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['since=yesterday', 'since'],
    ['since=2026-07-01', 'since'],
    ['until=2026-07-01T08:30:00', 'until'],
    ['until=2026-13-01T08:30:00Z', 'until'],
  ])('refuses ?%s', async (query, path) => {
    const answer = await ask(server, `/api/runs?${query}`, { headers: as(own('owner')) })
    const problem = await expectProblem(server, answer, 400, 'invalid_query')
    expect(problem).toMatchObject({ issues: [{ path }] })
  })

  it.each(['x', '', '%00', btoa('1'), btoa('1 ../x'), 'é'])('refuses the cursor "%s"', async cursor => {
    const path = `/api/runs?cursor=${encodeURIComponent(cursor)}`
    const answer = await ask(server, path, { headers: as(own('owner')) })
    await expectProblem(server, answer, 400, 'invalid_query')
  })
}

function anonymousCases(server: Server): void {
  it('is off', async () => {
    await expectProblem(server, await ask(server, '/api/runs'), 404, 'not_found')
  })

  it('is on where the option says so, for runs without an owner', async () => {
    const { id } = await accept(server, 'agents/echo', input)
    const { id: owned } = await accept(server, 'agents/echo', input, as(own('owner')))
    const ids = await listOpen(server)
    expect(ids).toContain(id)
    expect(ids).not.toContain(owned)
  })

  it('is off where runs are started with an identity only', async () => {
    const answer = await post(server, '/api/agents/echo/run', input, { prefer: 'respond-async' })
    expect(answer.status).toBe(202)
    expect((await ask(server, '/api/runs?status=running')).status).toBe(404)
  })
}
