/** Messages for a run at work whose process dies: each is got once. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { type MemoryStorage, type SessionStorage, sessionOf } from '../../../src/agents/memory.ts'
import { later } from '../../../src/base/wake.ts'
import { localCalls } from '../../../src/core/transaction-calls.ts'
import { SESSIONS_IN_STATE } from '../../../src/runs/sessions/session-storage.ts'
import { createLocalHost } from '../../../src/runs/stored/local-host.ts'
import { openDatabase } from '../../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqlStore } from '../../../src/stores/sql/sql.ts'
import type { Store } from '../../../src/stores/store.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventsIn, read } from '../../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../../contracts/run-host/local.ts'
import { eventually } from '../../eventually.ts'
import { settings } from '../../runs/sessions/session-kit.ts'
import { never } from '../../support.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const options = { sessionId: 's' }

/** A deployment whose process dies at a point. Points have names. */
function deployment(store: Store, dying: string | undefined) {
  const asked: string[][] = []
  const state = { dying, died: () => {}, passed: new Set<string>() }
  const death = new Promise<void>(resolve => {
    state.died = resolve
  })
  const point = async (name: string) => {
    state.passed.add(name)
    if (name !== state.dying) return
    state.dying = undefined
    generation++
    state.died()
    await never()
  }
  const slow = {
    name: 'slow',
    parameters: { type: 'object' },
    annotations: { idempotentHint: true },
    async execute() {
      await steered()
      await point('tool')
      return 'slept'
    },
  }
  const model = scriptedModel(async ({ call, messages, results }) => {
    const users = messages.filter(({ role }) => role === 'user')
    const said = users.map(({ content }) => (content as { text: string }[]).map(({ text }) => text).join())
    if (call === 0) return { toolCalls: [{ name: 'slow', input: {} }] }
    await point(`model ${results.length}`)
    asked.push(said)
    return `re ${said.join()}`
  })
  const agent = new ModelAgent({ name: 'helper', model, tools: [slow], register: false })
  const target = { kind: 'agent' as const, name: 'helper', servable: agent }
  let isSteered = false
  let generation = 0
  let next = ''
  async function steered(): Promise<void> {
    if (isSteered) return
    isSteered = true
    const record = await host.start({
      ...{ target, input: 'second', owner: null, isBackground: true },
      options: { ...options, steers: true },
    })
    next = record.id
    const key = sessionOf(memory, target, options)!
    await eventually(async () => expect((await sessions.atWork(key, 'x'))?.waiting).toBe(1))
  }
  let sessions: SessionStorage
  let memory: MemoryStorage
  const begin = (over: Store) => {
    const calls = localCalls(over, SESSIONS_IN_STATE.transactions)
    sessions = SESSIONS_IN_STATE.createStorage(calls, {
      ...{ settings, settingsFor: () => settings, compact: undefined, hold: undefined },
      onError: () => {},
    })
    const { take, enter, leave, beat } = sessions
    const own = generation
    // A dead process does nothing more.
    const alive =
      <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        if (own !== generation) await never()
        return work(...args)
      }
    Object.assign(sessions, {
      ...{ enter: alive(enter), leave: alive(leave), beat: alive(beat) },
      async take(...args: Parameters<SessionStorage['take']>) {
        await point('before the take')
        const all = await take(...args)
        await point('after the take')
        return all
      },
    })
    memory = {
      sessions,
      corrections: async () => [],
      servedAs: (servable, _kind, name) => (servable === agent ? name : undefined),
    }
    return createLocalHost({
      store: over,
      settings: { ...SETTINGS, memory, targetOf: () => target },
      retention: {},
    })
  }
  let host = begin(store)
  return {
    asked,
    passed: state.passed,
    async play() {
      const { id } = await host.start({ target, input: 'first', options, owner: null, isBackground: true })
      if (dying !== undefined) {
        await death
        for (let timers = 0; timers < 30; timers++) await later(0)
        host = begin(reopened(store))
        await host.get(id, null)
        vi.setSystemTime(Date.now() + 120_000)
        await host.get(id, null)
      }
      vi.useRealTimers()
      const ends = async () => {
        const all = [await host.get(id, null), await host.get(next, null)]
        expect(all.map(({ status }) => status)).toEqual(['completed', 'completed'])
        return all
      }
      return { id, next, records: await eventually(ends), events: eventsIn(await read(host, id)) }
    },
  }
}

const stores: readonly [string, () => Store][] = [
  ['memory', memoryStore],
  ['SQLite', () => sqlStore(openDatabase(':memory:'))],
]

describe.each(stores)('a message for a run whose process dies, over %s', (_, makeStore) => {
  it.each([undefined, 'tool', 'before the take', 'after the take', 'model 0'])(
    'comes once where it dies at: %s',
    async dying => {
      const { play, asked, passed } = deployment(makeStore(), dying)
      const { id, records, events } = await play()
      if (dying !== undefined) expect(passed).toContain(dying)
      const [, other] = records
      const got = events.filter(({ type }) => type === 'steered')
      const isJoined = other?.result?.steeredInto === id
      // Either the run at work gets it, or its own run.
      expect(got).toHaveLength(isJoined ? 1 : 0)
      const with2 = asked.filter(said => said.at(-1) === 'second')
      expect(with2).toHaveLength(1)
      if (dying === undefined || dying.startsWith('after') || dying === 'model 0') expect(isJoined).toBe(true)
    },
  )
})
