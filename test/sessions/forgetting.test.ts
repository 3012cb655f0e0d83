/** What is left of an owner, and of a session, once it is deleted. */
import { describe, expect, it } from 'vitest'
import { inMemory, inSqlite, type Kept, type Service, service } from './kit.ts'

const STORES: readonly (readonly [string, () => Kept])[] = [
  ['memory', inMemory],
  ['SQLite', inSqlite],
]

/** Leaves traces of a user in every part of the service. */
async function live(
  { ask, say, send }: Service,
  user: string,
  marker: string,
  session: string,
): Promise<void> {
  const stored = { prefer: 'respond-async' }
  const ended = async (id: string) => {
    for (;;) {
      const { json } = await ask('GET', `/api/runs/${id}`, { user })
      if (json().status !== 'running') return
    }
  }
  const plain = await say(marker, session, { user })
  const said = { sessionId: session, name: 'talks', score: 1, text: marker, correction: marker }
  expect((await ask('POST', `/api/runs/${plain}/feedback`, { user, body: said })).status).toBe(200)
  const image = { type: 'image', data: btoa(marker.padEnd(9000, '.')), mimeType: 'image/png' }
  await say([{ type: 'text', text: marker }, image], session, { user })
  const run = await say(marker, session, { user, headers: { ...stored, 'idempotency-key': marker } })
  await ended(run)
  expect((await ask('POST', `/api/runs/${run}/feedback`, { user, body: { text: marker } })).status).toBe(200)
  const alone = await ask('POST', '/api/agents/draws/run', { user, body: { input: marker }, headers: stored })
  await ended(alone.json().id)
  const path = `/api/runs/${alone.json().id}/feedback`
  expect((await ask('POST', path, { user, body: { score: -1, text: marker } })).status).toBe(200)
  await say(marker, session, { user, of: 'teams/outer' })
  await say(marker, session, { user, of: 'teams/inner' })
  await say(marker, session, { user, of: 'agents/asks' })
  await send(marker, session, 'talks', user)
  await send(marker, session, 'asks', user)
  const correction = { originalValue: marker, correctedValue: marker, sessionId: session }
  const corrected = await ask('POST', '/api/agents/talks/corrections', { user, body: correction })
  expect(corrected.status).toBe(201)
}

describe.each(STORES)('in %s', (_, open) => {
  it('nothing of an owner is left, and all of others', async () => {
    const it = service(open())
    await live(it, 'ada-lovelace', 'MARKER-OF-ADA', 'ada-session')
    await live(it, 'bob-dylan', 'MARKER-OF-BOB', 'bob-session')
    const marks = ['ada-lovelace', 'MARKER-OF-ADA', btoa('MARKER-OF-ADA').slice(0, 16), 'ada-session']
    for (const mark of marks) expect(it.all()).toContain(mark)
    expect((await it.ask('DELETE', '/api/users/me', { user: 'ada-lovelace' })).status).toBe(204)
    for (const mark of marks) expect(it.all()).not.toContain(mark)
    const kept = it.all()
    for (const mark of ['bob-dylan', 'MARKER-OF-BOB', btoa('MARKER-OF-BOB').slice(0, 16)]) {
      expect(kept).toContain(mark)
    }
    const { json } = await it.ask('GET', '/api/runs', { user: 'bob-dylan' })
    expect(json().runs.length).toBeGreaterThan(2)
    // Once more there is nothing to do.
    expect((await it.ask('DELETE', '/api/users/me', { user: 'ada-lovelace' })).status).toBe(204)
    expect(it.all()).toBe(kept)
  })

  it('nothing of a session is left: turns, runs, tasks, files, feedback, and what members remember', async () => {
    const it = service(open())
    await live(it, 'ada', 'MARKER-ONE', 'one')
    await live(it, 'ada', 'MARKER-TWO', 'two')
    for (const of of ['agents/talks', 'agents/asks', 'teams/outer', 'teams/inner']) {
      expect((await it.ask('DELETE', `/api/${of}/sessions/one`, { user: 'ada' })).status, of).toBe(204)
      expect((await it.ask('DELETE', `/api/${of}/sessions/one`, { user: 'ada' })).status).toBe(404)
    }
    const { json } = await it.ask('GET', '/api/sessions', { user: 'ada' })
    expect(new Set(json().sessions.map(({ id }: { id: string }) => id))).toEqual(new Set(['two']))
    const left = it.all()
    // A run without a session, and a correction, are of none.
    const [, ...rest] = left.split('MARKER-ONE')
    expect(rest.length).toBeGreaterThan(0)
    const runs = (await it.ask('GET', '/api/runs', { user: 'ada' })).json().runs
    expect(runs.filter(({ sessionId }: { sessionId?: string }) => sessionId === 'one')).toEqual([])
    for (const run of runs) {
      if (run.sessionId === undefined) expect((await del(it, run.id)).status).toBe(404)
    }
    expect(left).toContain('MARKER-TWO')
  })
})

const del = ({ ask }: Service, id: string) => ask('DELETE', `/api/runs/${id}`, { user: 'ada' })
