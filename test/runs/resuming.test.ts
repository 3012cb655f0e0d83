/** What a process that ends leaves to the next one, and what is kept of inputs. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { MAX_WORK_LENGTH } from '../../src/agents/work/work.ts'
import { ServableError } from '../../src/base/errors.ts'
import { later } from '../../src/base/wake.ts'
import { Agent, createHandler, memoryState, steps, Workflow } from '../../src/index.ts'
import type { HostSettings } from '../../src/runs/stored/host.ts'
import { JOURNAL, REQUESTS } from '../../src/runs/stored/journal.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { createWorkingRuns } from '../../src/runs/stored/working.ts'
import { MAX_DEATHS, MAX_REST_MS } from '../../src/stores/deaths.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Store, Transaction } from '../../src/stores/store.ts'
import { journalled, journalledOf } from '../contracts/run-host/journalled.ts'
import { ending, eventsIn, read, unique, until, waitFor } from '../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../contracts/run-host/local.ts'
import { countOf, openGate } from '../contracts/run-host/scripted.ts'
import { lateBase } from '../contracts/store/late.ts'

type Flow = Pick<Workflow, 'kind' | 'name' | 'stream' | 'run'>

function hostOf(store: Store, servable: Flow = journalled, more: Partial<HostSettings> = {}) {
  const target = { kind: 'workflow', name: 'journalled', servable } as const
  const host = createLocalHost({
    store,
    settings: { ...SETTINGS, ...more, targetOf: () => target },
    retention: {},
  })
  const start = (acts: object | string, options = {}) =>
    host.start({ target, input: JSON.stringify(acts), options, owner: null, isBackground: true })
  return { host, start }
}

/** A run that waits in its second step; the first is done. */
function waiting() {
  const [done, at, gate] = [unique('done'), unique('at'), unique('gate')]
  const acts = [
    { step: 'one', count: done, say: 'a' },
    { step: 'two', count: at, gate, say: 'b' },
  ]
  return { acts, done, at, gate }
}

/** A clock that stands still, and what moves it. */
function clock(): (ms: number) => void {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  return ms => void vi.setSystemTime(Date.now() + ms)
}

const keptIn = (store: Store, id: string) =>
  store.read(tx => ({ asked: tx.get(REQUESTS, id) !== undefined, entries: tx.count(JOURNAL, id) }))

describe('a server that drains', () => {
  it('leaves a run that can go on to another process, and cancels any other one', async () => {
    const base = lateBase()
    const [one, other] = [base.open(), base.open()]
    onTestFinished(() => {
      for (const store of [one, other]) store.close()
    })
    const working = createWorkingRuns()
    const here = hostOf(one, journalled, { working })
    const { acts, done, at, gate } = waiting()
    const { id } = await here.start(acts)
    const plain = hostOf(one, journalledOf({ resume: false }), { working })
    const cancelled = await plain.start([{ step: 'never', gate: unique('never') }])
    await waitFor(() => countOf(at) === 1)
    await working.drain(0)
    expect((await plain.host.get(cancelled.id, null)).status).toBe('cancelled')
    const there = hostOf(other)
    expect((await there.host.get(id, null)).status).toBe('running')
    openGate(gate)
    expect(await ending(there.host, id)).toMatchObject({ status: 'completed', result: { text: 'ab' } })
    expect([countOf(done), countOf(at)]).toEqual([1, 2])
    expect(eventsIn(await read(there.host, id)).filter(({ type }) => type === 'finish')).toHaveLength(1)
  })
})

describe('many deploys in one run', () => {
  it('are no deaths of it', async () => {
    const base = lateBase()
    const { acts, at, gate } = waiting()
    let store = base.open()
    const working = createWorkingRuns()
    const { id } = await hostOf(store, journalled, { working }).start(acts)
    for (let deploy = 1; deploy <= 12; deploy++) {
      await waitFor(() => countOf(at) === deploy)
      await working.drain(0)
      store.close()
      store = base.open()
      await hostOf(store, journalled, { working }).host.get(id, null)
    }
    await waitFor(() => countOf(at) === 13)
    onTestFinished(() => store.close())
    openGate(gate)
    expect(await ending(hostOf(store).host, id)).toMatchObject({ status: 'completed' })
  })
})

describe('a run whose worker is gone', () => {
  it('is taken over by one of many', async () => {
    const base = lateBase()
    const first = base.open()
    const { acts, at, gate } = waiting()
    const { id } = await hostOf(first).start(acts)
    await waitFor(() => countOf(at) === 1)
    first.close()
    const stores = Array.from({ length: 6 }, () => base.open())
    onTestFinished(() => {
      for (const store of stores) store.close()
    })
    const hosts = stores.map(store => hostOf(store).host)
    await Promise.all(hosts.map(host => host.get(id, null)))
    openGate(gate)
    expect(await ending(hosts[3]!, id)).toMatchObject({ status: 'completed' })
    expect(countOf(at)).toBe(2)
    expect(eventsIn(await read(hosts[0]!, id)).filter(({ type }) => type === 'resumed')).toHaveLength(1)
  })

  it('goes on with the same version only, and where its work is met in order', async () => {
    for (const [servable, code] of [
      [journalledOf({ version: '2' }), 'code_changed'],
      [journalledOf({ version: '1', resume: false }), 'interrupted'],
    ] as const) {
      const store = memoryStore()
      const { acts, at, gate } = waiting()
      const { id } = await hostOf(store, journalledOf({ version: '1' })).start(acts)
      await waitFor(() => countOf(at) === 1)
      openGate(gate)
      const { host } = hostOf(reopened(store), servable)
      expect(await ending(host, id)).toMatchObject({ status: 'failed', error: { code } })
    }
  })

  it('fails where the steps that were done are others now', async () => {
    const store = memoryStore()
    const flow = (...names: string[]) =>
      new Workflow({
        name: 'journalled',
        register: false,
        async *run(_, { step }) {
          for (const name of names) {
            yield* step(name, ({ signal }) => (name === 'last' ? hanging(signal) : name))
          }
        },
      })
    const before = hostOf(store, flow('one', 'two', 'last'))
    const { id } = await before.start([])
    await waitFor(() => keptEntries(store, id) === 2)
    const { host } = hostOf(reopened(store), flow('two', 'one', 'last'))
    expect(await ending(host, id)).toMatchObject({ status: 'failed', error: { code: 'code_changed' } })
  })

  it('goes on later after each death, and is given up after a few without any progress', async () => {
    const move = clock()
    const store = memoryStore()
    const at = unique('at')
    const { id } = await hostOf(store).start([{ step: 'one', count: at, gate: unique('never') }])
    await waitFor(() => countOf(at) === 1)
    // The worker dies, and another one looks.
    const die = () => hostOf(reopened(store)).host.get(id, null)
    const waits: number[] = []
    for (let death = 1; death < MAX_DEATHS; death++) {
      const begun = countOf(at)
      let waited = 0
      for (; countOf(at) === begun; waited += 1000) {
        move(waited === 0 ? 0 : 1000)
        // What only rests has no worker that could die.
        expect(await die()).toMatchObject({ status: 'running' })
        await later(0)
      }
      waits.push(waited)
    }
    expect(waits).toEqual(waits.toSorted((one, other) => one - other))
    expect(new Set(waits).size).toBe(waits.length)
    const why = `The server stopped ${MAX_DEATHS} times in a row while the run was at work, which got no further`
    expect(await die()).toMatchObject({ error: { code: 'interrupted', message: why }, resumable: true })
    expect(countOf(at)).toBe(MAX_DEATHS)
  })

  it('goes on however often its worker dies, if it gets further in between', async () => {
    const store = memoryStore()
    const steps = Array.from({ length: 2 * MAX_DEATHS }, () => ({ at: unique('at'), gate: unique('gate') }))
    const acts = steps.map(({ at, gate }, step) => ({ step: `${step}`, count: at, gate }))
    const { id } = await hostOf(store).start(acts)
    let { host } = hostOf(store)
    for (const { at, gate } of steps) {
      await waitFor(() => countOf(at) === 1)
      ;({ host } = hostOf(reopened(store)))
      expect(await host.get(id, null)).toMatchObject({ status: 'running' })
      await waitFor(() => countOf(at) === 2)
      openGate(gate)
    }
    expect(await ending(host, id)).toMatchObject({ status: 'completed' })
  })

  it('can be cancelled while it rests', async () => {
    const store = memoryStore()
    const { acts, at } = waiting()
    const { id } = await hostOf(store).start(acts)
    await waitFor(() => countOf(at) === 1)
    await hostOf(reopened(store)).host.get(id, null)
    await waitFor(() => countOf(at) === 2)
    const { host } = hostOf(reopened(store))
    expect(await host.cancel(id, null)).toMatchObject({ status: 'cancelled' })
    expect(countOf(at)).toBe(2)
  })

  it('fails where it can never go on: what it has said is more than is allowed now', async () => {
    const store = memoryStore()
    const { acts, at } = waiting()
    const { id } = await hostOf(store).start([{ say: 'more than ten characters' }, ...acts])
    await waitFor(() => countOf(at) === 1)
    const { host } = hostOf(reopened(store), journalled, { maxLength: 10 })
    expect(await ending(host, id)).toMatchObject({ status: 'failed', error: { code: 'run_too_large' } })
  })

  it('waits only for the rest of a sleep', async () => {
    const store = memoryStore()
    const { host, start } = hostOf(store)
    const { id } = await start([{ sleep: 3_600_000 }])
    await waitFor(() => keptEntries(store, id) === 1)
    expect((await host.get(id, null)).status).toBe('running')
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await ending(hostOf(reopened(store)).host, id)).toMatchObject({ status: 'completed' })
  })
})

describe('a run that its owner lets go on', () => {
  it('goes on once: not again where the run that went on is deleted', async () => {
    for (const keepInput of [false, true]) {
      const store = memoryStore()
      const { acts, at, gate } = waiting()
      const apiKeys = { '*': 'a-key-of-the-client' }
      const { id } = await hostOf(store, journalled, { keepInput }).start(acts, { apiKeys })
      await waitFor(() => countOf(at) === 1)
      const { host } = hostOf(reopened(store), journalled, { keepInput })
      expect(await ending(host, id)).toMatchObject({ resumable: true })
      openGate(gate)
      const { next } = await host.resume(id, null, { next: 'next', hasKey: true })
      const { input, continues } = next
      const target = { kind: 'workflow', name: 'journalled', servable: journalled } as const
      const options = { apiKeys, runId: 'next' }
      await host.start({ target, input, continues, options, owner: null, isBackground: true })
      await ending(host, 'next')
      await host.delete('next', null)
      const again = host.resume(id, null, { next: 'another', hasKey: true })
      await expect(again).rejects.toMatchObject({ code: 'not_resumable' })
      if (keepInput) expect((await host.asked(id, null)).input).toBe(JSON.stringify(acts))
    }
  })

  it('has the answers of the run before, which agents look up by themselves', async () => {
    const flow = new Workflow({
      name: 'journalled',
      register: false,
      async *run(_, { ask, step, signal, answers = [], runId }) {
        yield* ask('size')
        if (runId === 'answered') yield* step('wait', () => hanging(signal))
        else yield* step('wait', () => 'done')
        yield answers.map(answer => ('value' in answer ? answer.value : '')).join()
      },
    })
    const store = memoryStore()
    const { host, start } = hostOf(store, flow)
    const apiKeys = { '*': 'a-key-of-the-client' }
    const { id } = await start([], { apiKeys })
    await ending(host, id)
    const by = { hasKey: true }
    const { next } = await host.answer(id, null, [{ id: `${id}/size`, value: 'L' }], 'answered', by)
    const goOn = ({ input, continues, options, ...more }: NonNullable<typeof next>, on: typeof host) =>
      on.start({
        ...{ target: { kind: 'workflow', name: 'journalled', servable: flow }, input, continues },
        ...{ options: { ...options, apiKeys, runId: more.id }, owner: null, isBackground: true },
      })
    await goOn(next!, host)
    await until(host, 'answered', 'running')
    const after = hostOf(reopened(store), flow).host
    expect(await ending(after, 'answered')).toMatchObject({ resumable: true })
    const resumed = await after.resume('answered', null, { next: 'resumed', hasKey: true })
    await goOn(resumed.next, after)
    expect(await ending(after, 'resumed')).toMatchObject({ status: 'completed', result: { text: 'L' } })
  })
})

describe('what is kept', () => {
  it('is deleted with the end of the run, but for the input where that is wanted', async () => {
    for (const keepInput of [false, true]) {
      const store = memoryStore()
      const { host, start } = hostOf(store, journalled, { keepInput })
      const { acts, gate } = waiting()
      openGate(gate)
      const { id } = await start(acts)
      await ending(host, id)
      expect(keptIn(store, id)).toEqual({ asked: keepInput, entries: 0 })
      if (keepInput) expect((await host.asked(id, null)).input).toBe(JSON.stringify(acts))
    }
  })

  it('is nothing of a run whose input is too large', async () => {
    const store = memoryStore()
    const { host, start } = hostOf(store)
    const { id } = await start([{ step: 'one' }, { say: 'x'.repeat(2 * MAX_WORK_LENGTH) }])
    await ending(host, id)
    expect(keptIn(store, id)).toEqual({ asked: false, entries: 0 })
  })

  it('has no provider key in it', async () => {
    const store = memoryStore()
    const key = 'a-secret-of-the-client'
    const leaking = new Workflow({
      name: 'journalled',
      register: false,
      async *run(_, { step, apiKey, work }) {
        work.keep({ apiKey })
        yield* step('one', () => `it is ${apiKey}`)
        yield* step('two', ({ signal }) => hanging(signal))
      },
    })
    const { id } = await hostOf(store, leaking).start(`with ${key}`, { apiKeys: { '*': key } })
    await waitFor(() => keptEntries(store, id) === 1)
    const all = store.read(tx =>
      JSON.stringify([tx.get(REQUESTS, id), tx.list(JOURNAL, { partition: id, limit: 9 })]),
    )
    expect(all).toContain('it is')
    expect(all).not.toContain(key)
  })

  it('is nothing of a plain agent, and nothing where state ends with the server', async () => {
    const agent = new Agent({ name: 'agent', register: false, run: () => 'x' })
    const workflow = new Workflow({ name: 'flow', register: false, steps: steps().step('a', () => 'x') })
    const state = memoryState()
    const handler = createHandler({ agents: { agent }, workflows: { flow: workflow }, state, logger: false })
    for (const path of ['agents/agent', 'workflows/flow']) {
      const body = JSON.stringify({ input: 'x', background: true })
      const headers = { 'content-type': 'application/json' }
      const response = await handler(
        new Request(`http://x/api/${path}/run`, { method: 'POST', body, headers }),
      )
      expect(response.status).toBe(200)
      expect(keptIn(state.store, response.headers.get('x-run-id') ?? '')).toEqual({
        asked: false,
        entries: 0,
      })
    }
  })
})

function keptEntries(store: Store, id: string): number {
  return Number(store.read(tx => tx.count(JOURNAL, id)))
}

/** Waits for ever, or until the signal fires. */
function hanging(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe('a run whose workers have died in a row', () => {
  it('rests and goes on over a store whose transactions run more than once', async () => {
    const move = clock()
    const base = lateBase()
    let store = base.open()
    onTestFinished(() => store.close())
    const { acts, at, gate } = waiting()
    const { id } = await hostOf(store).start(acts)
    for (let deaths = 1; deaths <= 3; deaths++) {
      await waitFor(() => countOf(at) === deaths)
      store.close()
      store = base.open()
      await hostOf(store).host.get(id, null)
      move(MAX_REST_MS)
      await hostOf(store).host.get(id, null)
    }
    openGate(gate)
    await until(hostOf(store).host, id, 'completed')
  })
})

describe('more runs of dead workers than one commit can end in its time', () => {
  it('are taken over all the same', async () => {
    const base = lateBase()
    const first = base.open()
    const gate = unique('gate')
    const started = hostOf(first)
    const acts = [{ step: 'waits', gate, say: 'a' }]
    const runs = await Promise.all(Array.from({ length: 40 }, () => started.start(acts)))
    first.close()
    const store = base.open()
    onTestFinished(() => store.close())
    openGate(gate)
    const { host } = hostOf(slowOver(store, 8))
    for (const { id } of runs) await until(host, id, 'completed')
  })

  /** A store on which a commit that takes over more runs than this gets no answer. */
  function slowOver(store: Store, most: number): Store {
    const counted = (tx: Transaction) => {
      let taken = 0
      const append: Transaction['append'] = (log, data, seal) => {
        if (data.includes('"resumed"') && ++taken > most)
          throw new ServableError('state_unavailable', 'It takes too long')
        return tx.append(log, data, seal)
      }
      return new Proxy(tx, {
        get(_, name) {
          if (name === 'append') return append
          const value: unknown = Reflect.get(tx, name, tx)
          return typeof value === 'function' ? value.bind(tx) : value
        },
      })
    }
    return new Proxy(store, {
      get(_, name) {
        if (name === 'write')
          return (work: (tx: Transaction) => unknown) => store.write(tx => work(counted(tx)), 200)
        const value: unknown = Reflect.get(store, name, store)
        return typeof value === 'function' ? value.bind(store) : value
      },
    })
  }
})
