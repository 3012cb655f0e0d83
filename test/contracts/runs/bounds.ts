import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { expectProblem, jsonRequest, run } from '../http/client.ts'
import {
  acceptGated,
  as,
  ask,
  cancel,
  ended,
  type Fields,
  follow,
  get,
  openGate,
  own,
  post,
  type Server,
  streamRequest,
} from './client.ts'

const input = { input: 'one' }
const async = { prefer: 'respond-async' }

/** A run of the agent that speaks while it waits. */
const acceptChatty = (server: Server) => acceptGated(server, {}, {}, 'chatty')

/** These cases run one after another, since they share the limits of one server. Each leaves no run running. */
export function boundCases(server: Server): void {
  it('refuses one follower too many, and takes another once one has left', async () => {
    const { id, gate } = await acceptChatty(server)
    const leaving = new AbortController()
    const first = await fetch(`${server().url}/api/runs/${id}/stream`, { signal: leaving.signal })
    const second = await streamRequest(server, id)
    expect([first.status, second.status]).toEqual([200, 200])
    const refused = await ask(server, `/api/runs/${id}/stream`)
    await expectProblem(server, refused, 429, 'too_many_followers')
    leaving.abort()
    let third: Response | undefined
    await eventually(async () => {
      third = await streamRequest(server, id)
      if (third.status !== 200) await third.body?.cancel()
      expect(third.status).toBe(200)
    })
    await openGate(server, gate)
    for (const response of [second, third]) expect(await response?.text()).toContain('"text":" after"')
    for (let round = 0; round < 3; round++) {
      expect((await follow(server, id)).at(-1)?.event).toMatchObject({ type: 'finish' })
    }
  })

  it('counts no HEAD as a follower', async () => {
    const { id, gate } = await acceptChatty(server)
    for (let round = 0; round < 5; round++) {
      const answer = await ask(server, `/api/runs/${id}/stream`, { method: 'HEAD' })
      expect(answer.status).toBe(200)
    }
    const following = follow(server, id)
    await openGate(server, gate)
    expect((await following).at(-1)?.event).toMatchObject({ type: 'finish' })
  })

  it('counts no follower that left in the middle of a burst', async () => {
    const { id, gate } = await acceptChatty(server)
    for (let round = 0; round < 10; round++) {
      await eventually(async () => {
        const response = await streamRequest(server, id)
        await response.body?.cancel()
        expect(response.status).toBe(200)
      })
    }
    await openGate(server, gate)
    await ended(server, id)
  })

  it('refuses one run too many, and takes another once one has ended', async () => {
    const gated = await acceptAll(server, 2)
    await expectProblem(server, await start(server), 429, 'too_many_runs')
    // An unverified `userId` gets no place of its own.
    const claimed = await post(server, '/api/agents/echo/run', { ...input, userId: own('user') }, async)
    await expectProblem(server, claimed, 429, 'too_many_runs')
    const keyed = await start(server, { 'idempotency-key': own('key') })
    await expectProblem(server, keyed, 429, 'too_many_runs')
    expect((await run(server, '/api/agents/echo/run')).text).toBe('one two')
    const [first] = gated
    await cancel(server, first?.id ?? '')
    await eventually(async () => expect((await start(server)).status).toBe(202))
    await finish(server, gated)
  })

  it('has room for others while a client without an identity has all that it may have', async () => {
    const gated = await acceptAll(server, 2)
    expect((await start(server, as(own('owner')))).status).toBe(202)
    await finish(server, gated)
  })

  it('refuses an owner one run too many', async () => {
    const owner = as(own('owner'))
    const gated = await acceptAll(server, 2, owner)
    await expectProblem(server, await start(server, owner), 429, 'too_many_runs')
    expect((await start(server, as(own('other')))).status).toBe(202)
    for (const { gate } of gated) await openGate(server, gate)
    for (const { id } of gated) await ended(server, id, owner)
    await eventually(async () => expect((await start(server, owner)).status).toBe(202))
  })

  it('does not use up a key with a run that was refused', async () => {
    const gated = await acceptAll(server, 2)
    const key = { 'idempotency-key': own('key') }
    await expectProblem(server, await start(server, key), 429, 'too_many_runs')
    await finish(server, gated)
    await eventually(async () => expect((await start(server, key)).status).toBe(202))
  })
}

function start(server: Server, headers: Fields = {}) {
  return post(server, '/api/agents/echo/run', input, { ...async, ...headers })
}

async function acceptAll(server: Server, count: number, headers?: Fields) {
  const all: { id: string; gate: string }[] = []
  for (let index = 0; index < count; index++) {
    // A run that ended a moment ago may still be counted.
    await eventually(async () => void all.push(await acceptGated(server, headers)))
  }
  return all
}

async function finish(server: Server, gated: readonly { id: string; gate: string }[]): Promise<void> {
  for (const { gate } of gated) await openGate(server, gate)
  for (const { id } of gated) await ended(server, id)
}

/** The cases with little time and space for a run. */
export function shortCases(server: Server): void {
  const words = Array.from({ length: 50 }, () => 'w'.repeat(300)).join(' ')

  it.each([
    ['that takes too long', 'never-ends', 'x', 504, 'run_timeout', ['before ']],
    ['of too many events', 'counts', '5000', 500, 'run_too_large', undefined],
    ['of too many bytes', 'echo', words, 500, 'run_too_large', undefined],
    ['of an event that is too large', 'large', 'x', 500, 'run_too_large', []],
  ])(
    'fails a run %s, and keeps its events',
    async (_, name, input, status, code, texts) => {
      const answer = await post(server, `/api/agents/${name}/run`, { input, background: true })
      await expectProblem(server, answer, status, code)
      const id = answer.headers.get('x-run-id') ?? ''
      expect(await get(server, id)).toMatchObject({ status: 'failed', error: { code } })
      const events = (await follow(server, id)).map(({ event }) => event)
      expect(events.pop()).toMatchObject({ type: 'error', code })
      const told = events.flatMap(event => (event.type === 'text' ? [event.text] : []))
      expect(told).toHaveLength(events.length)
      if (texts === undefined) expect(told.length).toBeGreaterThan(10)
      else expect(told).toEqual(texts)
    },
    10_000,
  )

  it('bounds runs in the background and those whose client has left', async () => {
    const leaving = new AbortController()
    const request = jsonRequest({ input: own('gate'), background: true })
    const response = await fetch(`${server().url}/api/agents/gated/stream`, {
      ...request,
      signal: leaving.signal,
    })
    leaving.abort()
    const id = response.headers.get('x-run-id') ?? ''
    expect(await ended(server, id)).toMatchObject({ status: 'failed', error: { code: 'run_timeout' } })
  })
}

export function unstoredCases(server: Server): void {
  const path = '/none/agents/echo'

  describe.each([
    ['`background`', { ...input, background: true }, {}],
    ['`respond-async`', input, async],
    ['an `Idempotency-Key`', input, { 'idempotency-key': 'k' }],
  ])('a request with %s', (_, body, headers: Fields) => {
    it.each(['run', 'stream'])('is refused on /%s', async route => {
      const answer = await post(server, `${path}/${route}`, body, headers)
      const problem = await expectProblem(server, answer, 400, 'runs_not_stored')
      expect(problem.detail).toContain('runs.store')
    })
  })

  it('plain runs go on', async () => {
    expect((await run(server, `${path}/run`)).text).toBe('one two')
  })
}
