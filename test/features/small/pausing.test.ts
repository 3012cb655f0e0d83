/** Pauses in a handler of this process, and over several. */
import { describe, expect, it, vi } from 'vitest'
import { localState } from '../../../src/core/local-state.ts'
import { createHandler as createCoreHandler } from '../../../src/core-entry.ts'
import { auditLog } from '../../../src/features/logs/index.ts'
import { schedule, schedules } from '../../../src/features/schedules/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  pausing,
  platform,
  type State,
} from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { newFolder } from '../../contracts/run-host/folder.ts'

const echo = new Agent({ name: 'echo', register: false, run: input => String(input) })

const over = (store: Store): State => localState({ store, retention: {}, isVolatile: false })

function service(state: State, more: HandlerOptions = {}) {
  const entries: LogEntry[] = []
  const handler = createHandler({
    ...{ agents: { echo }, state, logger: entry => void entries.push(entry) },
    ...{ runs: { store: 'asked' }, plugins: [pausing()] },
    ...more,
  })
  const ask = async (path: string, init?: RequestInit) => {
    const request = new Request(`http://127.0.0.1/api/${path}`, init)
    const response = await handler(request, platform({ ip: '127.0.0.1' }))
    return { status: response.status, body: await response.json() }
  }
  const run = async () => (await ask('agents/echo/run', jsonRequest({ input: 'hi' }))).status
  const pause = (reason?: string) => ask('agents/echo/pause', jsonRequest({ reason }))
  const resume = () => ask('agents/echo/resume', { method: 'POST' })
  return { ask, run, pause, resume, entries }
}

/** A store that counts reads and fails while it is away. */
function watched(isRemote: boolean) {
  const inner = memoryStore()
  const told = { reads: 0, isAway: false }
  const store: Store = {
    ...inner,
    isRemote,
    read(work) {
      told.reads++
      if (told.isAway) throw new Error('away')
      return inner.read(work)
    },
    write: work => inner.write(work),
  }
  return { store, told }
}

describe('a pause', () => {
  it('is shown in the list of agents', async () => {
    const { ask, pause, resume } = service(over(memoryStore()))
    await pause('It loops')
    const [shown] = (await ask('agents')).body
    expect(shown).toMatchObject({ name: 'echo', paused: { reason: 'It loops', at: expect.any(String) } })
    expect(shown.paused).not.toHaveProperty('by')
    await resume()
    expect((await ask('agents')).body[0]).not.toHaveProperty('paused')
  })

  it('is in the audit log, once', async () => {
    const own: LogEntry[] = []
    for (const plugins of [
      [pausing()],
      [pausing(), auditLog()],
      [pausing(), auditLog({ write: entry => void own.push(entry) })],
    ]) {
      const { entries, pause, resume } = service(over(memoryStore()), { plugins })
      await pause('It loops')
      await resume()
      await resume()
      const about = { channel: 'audit', outcome: 'ok', actor: 'local', kind: 'agent', name: 'echo' }
      const identified = { ...about, actor: null }
      const found = entries.filter(({ event }) => event?.startsWith('agent.'))
      expect(found).toMatchObject([
        { ...identified, event: 'agent.paused', reason: 'It loops' },
        { ...identified, event: 'agent.resumed' },
      ])
    }
    expect(own.map(({ event }) => event)).toEqual(['agent.paused', 'agent.resumed', 'agent.resumed'])
  })

  it('is why a schedule could not start its run', async () => {
    const list = [schedule('echo', { cron: '0 0 1 1 *', input: 'hi', owner: 'ada' })]
    const { ask, pause } = service(over(memoryStore()), { plugins: [pausing(), schedules(list)] })
    await pause('It loops')
    const { status, body } = await ask('schedules/echo/run', { method: 'POST' })
    expect([status, body.code]).toEqual([503, 'agent_paused'])
  })

  it('outlives its process, and holds in each that has the file', async () => {
    const folder = await newFolder()
    const state = () => sqliteState({ path: `${folder.path}/state.db` })
    try {
      const [one, two] = [service(state()), service(state())]
      await one.pause()
      expect(await two.run()).toBe(503)
      await two.resume()
      expect(await one.run()).toBe(200)
      await two.pause('again')
      expect(await service(state()).run()).toBe(503)
    } finally {
      await folder.remove()
    }
  })

  it('can be taken back after its agent is gone', async () => {
    const store = memoryStore()
    await service(over(store)).pause()
    const { ask, resume } = service(over(store), { agents: {} })
    expect((await ask('paused')).body.paused).toHaveLength(1)
    expect((await resume()).status).toBe(200)
    expect((await resume()).status).toBe(404)
    expect((await ask('paused')).body.paused).toEqual([])
  })
})

describe('a store far away', () => {
  it('is asked at most every two seconds, and other processes follow then', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const { store, told } = watched(true)
      const [one, two] = [service(over(store)), service(over(store))]
      expect(await two.run()).toBe(200)
      const { reads } = told
      for (let time = 0; time < 20; time++) expect(await two.run()).toBe(200)
      expect(told.reads).toBe(reads)
      await one.pause()
      expect(await one.run()).toBe(503)
      vi.advanceTimersByTime(2000)
      expect(await two.run()).toBe(503)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe.each([['near', false] as const, ['far away', true] as const])(
  'a store %s that fails',
  (_, isRemote) => {
    it('lets the last known answer hold, and runs start if there is none', async () => {
      vi.useFakeTimers({ toFake: ['performance'] })
      try {
        const { store, told } = watched(isRemote)
        const [one, two] = [service(over(store)), service(over(store))]
        await one.pause()
        told.isAway = true
        for (let time = 0; time < 3; time++) {
          vi.advanceTimersByTime(2000)
          expect(await one.run()).toBe(503)
          expect(await two.run()).toBe(200)
        }
        const failed = two.entries.filter(({ event }) => event === 'pausing.failed')
        expect(failed).toMatchObject([{ level: 'error', message: expect.stringContaining('away') }])
        told.isAway = false
        vi.advanceTimersByTime(2000)
        expect(await two.run()).toBe(503)
      } finally {
        vi.useRealTimers()
      }
    })
  },
)

describe('the options', () => {
  it('need a state, and have no others', () => {
    const wrong = expect.objectContaining({ code: 'invalid_options' })
    expect(() => createCoreHandler({ plugins: [pausing()] })).toThrow(wrong)
    expect(() => pausing({ who: 'me' } as never)).toThrow(wrong)
  })

  it('refuse everyone in production without roles or `authenticate`', async () => {
    const closed = service(over(memoryStore()), { production: true })
    expect((await closed.pause()).status).toBe(403)
    const plugins = [pausing({ authenticate: () => ({ id: 'root' }) })]
    const open = service(over(memoryStore()), { production: true, plugins })
    expect((await open.pause()).body).toMatchObject({ by: 'root' })
  })
})
