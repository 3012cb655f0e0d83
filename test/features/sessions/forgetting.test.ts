/** What is left of an owner, and of a session, once it is deleted. */

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import { asPlugin } from '../../../src/core/built-in.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import type { Turn } from '../../../src/index.ts'
import { logOf } from '../../../src/protocols/a2a/tasks/task-body.ts'
import { forgetTask, type StoredTask, TASKS } from '../../../src/protocols/a2a/tasks/task-record.ts'
import { LEASE_MS } from '../../../src/runs/sessions/session-record.ts'
import { newRun } from '../../../src/runs/stored/new-run.ts'
import { RUNS, type StoredRun, toDocument } from '../../../src/runs/stored/record.ts'
import { forgetRun } from '../../../src/runs/stored/retention.ts'
import type { NearStore } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'
import { inMemory, inSqlite, type Kept, type Service, service } from './service.ts'

const STORES: readonly (readonly [string, () => Kept])[] = [
  ['memory', inMemory],
  ['SQLite', inSqlite],
]

/** Deleting asks every plugin, and this one answers when it is let. */
function slowly() {
  const [deleting, goOn] = [deferred<void>(), deferred<void>()]
  const forget = () => {
    deleting.resolve()
    return goOn.promise.then(() => false)
  }
  return { slow: asPlugin({ name: 'slow', mount: () => ({ forget }) }), deleting, goOn }
}

/** Leaves traces of a user in every part of the service. */
async function live(
  { ask, say, send }: Service,
  user: string,
  marker: string,
  session: string,
): Promise<void> {
  const stored = { prefer: 'respond-async' }
  const ended = async (id: string) => {
    await eventually(async () => {
      const { json } = await ask('GET', `/api/runs/${id}`, { user })
      expect(json().status).not.toBe('running')
    })
  }
  const plain = await say(marker, session, { user })
  const said = { sessionId: session, name: 'talks', score: 1, text: marker, correction: marker }
  expect((await ask('POST', `/api/runs/${plain}/feedback`, { user, body: said })).status).toBe(200)
  const image = { type: 'image', data: btoa(marker.padEnd(9000, '.')), mimeType: 'image/png' }
  await say([{ type: 'text', text: marker }, image], session, { user })
  const run = await say(marker, session, { user, headers: { ...stored, 'idempotency-key': marker } })
  await ended(run)
  expect((await ask('POST', `/api/runs/${run}/feedback`, { user, body: { text: marker } })).status).toBe(200)
  await say(marker, session, { user, of: 'teams/outer' })
  await say(marker, session, { user, of: 'teams/inner' })
  await say(marker, session, { user, of: 'agents/asks' })
  await send(marker, session, 'talks', user)
  await send(marker, session, 'asks', user)
}

/** The same, of no session. */
async function liveBeside({ ask }: Service, user: string, marker: string): Promise<void> {
  const body = { input: marker }
  const alone = await ask('POST', '/api/agents/draws/run', {
    user,
    body,
    headers: { prefer: 'respond-async' },
  })
  const path = `/api/runs/${alone.json().id}/feedback`
  await eventually(async () => {
    expect((await ask('POST', path, { user, body: { score: -1, text: marker } })).status).toBe(200)
  })
  const correction = { originalValue: marker, correctedValue: marker }
  const corrected = await ask('POST', '/api/agents/talks/corrections', { user, body: correction })
  expect(corrected.status).toBe(201)
}

describe.each(STORES)('in %s', (_, open) => {
  it('nothing of an owner is left, and all of others', async () => {
    const it = service(open())
    await live(it, 'ada-lovelace', 'MARKER-OF-ADA', 'ada-session')
    await liveBeside(it, 'ada-lovelace', 'MARKER-OF-ADA')
    await live(it, 'bob-dylan', 'MARKER-OF-BOB', 'bob-session')
    await liveBeside(it, 'bob-dylan', 'MARKER-OF-BOB')
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
      const path = `/api/${of}/sessions/one`
      expect((await it.ask('DELETE', path, { user: 'bob' })).status).toBe(404)
      expect((await it.ask('DELETE', path)).status).toBe(404)
      expect((await it.ask('DELETE', path, { user: 'ada' })).status, of).toBe(204)
      expect((await it.ask('DELETE', path, { user: 'ada' })).status).toBe(404)
    }
    expect(it.all()).not.toContain('MARKER-ONE')
    expect(it.all()).not.toContain(btoa('MARKER-ONE').slice(0, 12))
    const { sessions } = (await it.ask('GET', '/api/sessions', { user: 'ada' })).json()
    expect(new Set(sessions.map(({ id }: { id: string }) => id))).toEqual(new Set(['two']))
    expect(it.all()).toContain(btoa('MARKER-TWO').slice(0, 12))
  })

  it.each(['talks', 'asks'])('nothing of a branch of %s is left, with its tasks', async agent => {
    const it = service(open())
    const path = `/api/agents/${agent}/sessions/one`
    const stays = await it.send('MARKER-ONE', 'one', agent, 'ada')
    const goes = await it.send('MARKER-TWO', 'one', agent, 'ada')
    const other = await it.send('MARKER-THREE', 'other', agent, 'ada')
    const { turns } = (await it.ask('GET', `${path}/messages`, { user: 'ada' })).json()
    expect(it.all()).toContain('MARKER-TWO')
    const gone = await it.ask('DELETE', `${path}/branches/${turns[0].runId}`, { user: 'ada' })
    expect(gone.status, gone.text).toBe(204)
    expect(it.all()).not.toContain('MARKER-TWO')
    const headers = { 'a2a-version': '1.0' }
    const statusOf = async ({ id }: { id: string }) =>
      (await it.ask('GET', `/agents/${agent}/tasks/${id}`, { user: 'ada', headers })).status
    expect([await statusOf(stays), await statusOf(goes), await statusOf(other)]).toEqual([200, 404, 200])
  })
})

describe('a run at work', () => {
  const path = '/api/agents/talks/sessions/s'
  const turnsOf = async ({ ask }: Service): Promise<Turn[]> =>
    (await ask('GET', `${path}/messages`, { user: 'ada' })).json().turns
  const begun = (it: Service, input: string) =>
    eventually(async () => expect((await turnsOf(it)).map(turn => turn.input)).toContain(input))

  it.each(['plain', 'stored'])('%s: keeps its session, unless it is to be cancelled', async how => {
    const it = service()
    const open = it.gate('g')
    await it.say('before', 's', { user: 'ada' })
    const headers: Record<string, string> = how === 'stored' ? { prefer: 'respond-async' } : {}
    const run = it.say('waits g', 's', { user: 'ada', headers })
    await begun(it, 'waits g')
    for (const where of [path, '/api/users/me']) {
      const { status, json } = await it.ask('DELETE', where, { user: 'ada' })
      expect([status, json().code]).toEqual([409, 'session_busy'])
    }
    const wrong = await it.ask('DELETE', `${path}?running=stop`, { user: 'ada' })
    expect([wrong.status, wrong.json().code]).toEqual([400, 'invalid_query'])
    expect(await turnsOf(it)).toHaveLength(2)
    expect((await it.ask('DELETE', `${path}?running=cancel`, { user: 'ada' })).status).toBe(204)
    await run.catch(() => {})
    open()
    expect(it.all()).not.toContain('waits g')
    expect((await it.ask('GET', path, { user: 'ada' })).status).toBe(404)
  })

  it('is cancelled with all of its owner', async () => {
    const it = service()
    it.gate('g')
    await it.say('waits g', 's', { user: 'ada', headers: { prefer: 'respond-async' } })
    void it.send('waits g', 'c', 'talks', 'ada').catch(() => {})
    await begun(it, 'waits g')
    await eventually(() => expect(it.all()).toContain('task-at-work'))
    expect((await it.ask('DELETE', '/api/users/me?running=cancel', { user: 'ada' })).status).toBe(204)
    for (const mark of ['ada', 'waits g']) expect(it.all()).not.toContain(mark)
  })

  it('whose record was deleted, since it was thought dead, leaves nothing', async () => {
    const kept = inMemory()
    const store = kept.state.store as NearStore
    const it = service(kept)
    const open = it.gate('g')
    const run = await it.say('waits g', 's', { user: 'ada', headers: { prefer: 'respond-async' } })
    const task = it.send('waits g', 'c', 'talks', 'ada')
    await eventually(() => expect(it.all()).toContain('"task-at-work",[{'))
    const [at] = store.read(tx => tx.oldest<StoredTask>(TASKS, 1))
    await begun(it, 'waits g')
    store.write(tx => {
      const stored = tx.get<StoredRun>(RUNS, run)?.value
      if (stored !== undefined) forgetRun(tx, stored)
      forgetTask(tx, at?.id ?? '')
    })
    open()
    await task.catch(() => {})
    await eventually(() =>
      expect(store.read(tx => [tx.length(run), tx.length(logOf(at?.id ?? ''))])).toEqual([0, 0]),
    )
    await eventually(async () => expect((await turnsOf(it)).map(turn => turn.status)).toEqual(['completed']))
    expect(store.read(tx => [tx.length(run), tx.length(logOf(at?.id ?? ''))])).toEqual([0, 0])
  })

  it('that begins during the deletion waits, and has a session of its own', async () => {
    const kept = inMemory()
    const { slow, deleting, goOn } = slowly()
    const it = service(kept, { plugins: [sessions(), slow] })
    await it.say('OLD', 's', { user: 'ada' })
    await it.say('OLD', 's', { user: 'ada', headers: { prefer: 'respond-async' } })
    await eventually(async () => expect(await turnsOf(it)).toHaveLength(2))
    const deletion = it.ask('DELETE', path, { user: 'ada' })
    await deleting.promise
    const plain = it.say('NEW', 's', { user: 'ada' })
    const stored = await it.say('NEW', 's', { user: 'ada', headers: { prefer: 'respond-async' } })
    goOn.resolve()
    expect((await deletion).status).toBe(204)
    await plain
    await eventually(async () => {
      const { status, text } = await it.ask('GET', `/api/runs/${stored}`, { user: 'ada' })
      expect([status, JSON.parse(text).status]).toEqual([200, 'completed'])
    })
    expect((await turnsOf(it)).map(({ input }) => input)).toEqual(['NEW', 'NEW'])
    expect((await turnsOf(it)).map(({ text }) => text).sort()).toEqual([
      'you said NEW (0)',
      'you said NEW (2)',
    ])
    expect(it.all()).not.toContain('OLD')
  })

  it('of a deletion that broke off is found again by the next one', async () => {
    const kept = inMemory()
    let fails = true
    const broken = asPlugin({
      name: 'broken',
      mount: () => ({
        async forget() {
          if (fails) throw new Error('the power is off')
          return false
        },
      }),
    })
    const it = service(kept, { plugins: [sessions(), broken] })
    await it.say('MARKER', 's', { user: 'ada' })
    await it.say('MARKER', 's', { user: 'ada', headers: { prefer: 'respond-async' } })
    await eventually(async () => expect(await turnsOf(it)).toHaveLength(2))
    for (const where of [path, '/api/users/me']) {
      expect((await it.ask('DELETE', where, { user: 'ada' })).status).toBe(500)
    }
    expect((await it.ask('GET', '/api/runs', { user: 'ada' })).status).toBe(200)
    // Its place is free at once.
    await it.say('MARKER', 's', { user: 'ada' })
    fails = false
    expect((await it.ask('DELETE', path, { user: 'ada' })).status).toBe(204)
    expect((await it.ask('DELETE', '/api/users/me', { user: 'ada' })).status).toBe(204)
    expect(it.all()).not.toContain('MARKER')
    expect(it.all()).not.toContain('ada')
  })
})

describe('a session that is deleted', () => {
  const path = '/api/agents/talks/sessions/s'
  const user = 'ada'
  /** The claims of the process before have run out. */
  const outlive = () => vi.setSystemTime(Date.now() + LEASE_MS + 1)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
  })

  it('is not brought back by a run that was thought dead', async () => {
    const kept = inMemory()
    const [dead, other] = [service(kept), service(kept)]
    const open = dead.gate('g')
    const run = dead.say('waits g', 's', { user })
    await eventually(() => expect(kept.all()).toContain('waits g'))
    outlive()
    expect((await other.ask('DELETE', path, { user })).status).toBe(204)
    open()
    await run
    for (const mark of ['waits g', 'ada']) expect(kept.all()).not.toContain(mark)
  })

  it('is left alone where another run has it by now', async () => {
    const kept = inMemory()
    const { slow, deleting, goOn } = slowly()
    const [dead, other] = [service(kept, { plugins: [sessions(), slow] }), service(kept)]
    await other.say('one', 's', { user })
    const deletion = dead.ask('DELETE', path, { user })
    await deleting.promise
    outlive()
    const open = other.gate('g')
    const run = other.say('waits g', 's', { user })
    await eventually(() => expect(kept.all()).toContain('waits g'))
    goOn.resolve()
    const { status, json } = await deletion
    expect([status, json().code]).toEqual([409, 'session_busy'])
    open()
    await run
    expect(kept.all()).toContain('waits g')
  })
})

describe('many runs of one owner', () => {
  it('are deleted page by page', async () => {
    const kept = inSqlite()
    const it = service(kept)
    const store = kept.state.store as NearStore
    store.write(tx => {
      for (let index = 0; index < 10_000; index++) {
        const id = crypto.randomUUID()
        const target = { kind: 'agent', name: 'talks' } as const
        const run = newRun(
          { id, at: Date.now() + index, instance: 'x' },
          { target, options: {}, owner: 'ada', key: undefined },
        )
        const document = toDocument(
          { ...run, record: { ...run.record, status: 'completed' } },
          Date.now() + 1e9,
        )
        tx.put(RUNS, document, { thing: id })
        tx.append(id, 'ada', true)
      }
    })
    expect((await it.ask('DELETE', '/api/users/me', { user: 'ada' })).status).toBe(204)
    expect(store.read(tx => tx.count(RUNS))).toBe(0)
    expect(it.all()).not.toContain('ada')
  })
})
