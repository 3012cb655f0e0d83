import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Follower, HostSettings, RunHost } from '../../src/runs/stored/host.ts'
import type { StoredLogEntry } from '../../src/stores/store.ts'
import { answer, kept } from '../contracts/run-host/answering.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { begin, ending, listAll, newKey, type TestHost, unique, waitFor } from '../contracts/run-host/kit.ts'
import { runHostContract } from '../contracts/run-host.ts'
import { eventually } from '../eventually.ts'
import { startWorkerd } from './harness.ts'

const never = { gate: 'never' } as const

/** Calls through the door of the Worker. */
function door(url: string) {
  const open = async (call: object, signal?: AbortSignal): Promise<Response> => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(call), signal: signal ?? null })
    if (response.ok) return response
    const { code, message } = (await response.json()) as { code?: string; message: string }
    throw Object.assign(new Error(message), { code })
  }
  const ask = async <T>(call: object): Promise<T> => ((await (await open(call)).json()) as { value: T }).value
  return { open, ask }
}

function durableHost({ open, ask }: ReturnType<typeof door>): RunHost {
  return {
    start: ({ target: { kind }, ...request }) => ask({ method: 'start', kind, request }),
    resume: (id, viewer, request) => ask({ method: 'resume', id, viewer, request }),
    asked: (id, viewer) => ask({ method: 'asked', id, viewer }),
    get: (id, viewer) => ask({ method: 'get', id, viewer }),
    events: (id, viewer, query) => ask({ method: 'events', id, viewer, query }),
    wait: (id, viewer) => ask({ method: 'wait', id, viewer }),
    cancel: (id, viewer) => ask({ method: 'cancel', id, viewer }),
    delete: (id, viewer) => ask({ method: 'delete', id, viewer }),
    feedback: (id, viewer, given) => ask({ method: 'feedback', id, viewer, given }),
    rate: (id, viewer, rating) => ask({ method: 'rate', id, viewer, rating }),
    find: ref => ask({ method: 'find', ref }),
    list: (owner, query) => ask({ method: 'list', owner, query }),
    keep: run => ask({ method: 'keep', run }),
    record: run => ask({ method: 'record', run }),
    asking: id => ask({ method: 'asking', id }),
    answer: (id, viewer, answers, next, by) => ask({ method: 'answer', id, viewer, answers, next, by }),
    async follow(id, viewer, after) {
      const leaving = new AbortController()
      const { body } = await open({ method: 'follow', id, viewer, after }, leaving.signal)
      if (body === null) throw new Error('an answer without a body')
      return followLines(body, leaving)
    },
  }
}

/** Reads lines of an entry each, and closes the connection when it leaves. */
function followLines(body: ReadableStream<Uint8Array>, leaving: AbortController): Follower {
  const chunks = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  const read = async (): Promise<StoredLogEntry[] | undefined> => {
    const { done, value } = await chunks.read()
    if (done) return undefined
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    const entries = lines.filter(line => line !== '').map(toEntry)
    return entries.length > 0 ? entries : read()
  }
  return {
    next: () => read().catch(() => undefined),
    ready: () => [],
    leave: () => leaving.abort(),
  }
}

function toEntry(line: string): StoredLogEntry {
  const space = line.indexOf(' ')
  return { seq: Number(line.slice(0, space)), data: line.slice(space + 1) }
}

async function make(
  settings: Partial<HostSettings>,
  indexes = 1,
): Promise<TestHost & { crashIndex(name: string): Promise<unknown> }> {
  const folder = await newFolder()
  const env = { RUNS: JSON.stringify(settings), INDEXES: String(indexes) }
  const workerd = await startWorkerd('test/runtimes/entries/run-host.ts', { env, storage: folder.path })
  const through = door(workerd.url)
  const host = durableHost(through)
  return {
    host,
    crashIndex: name => through.ask({ method: 'crashIndex', about: name }),
    openGate: about => through.ask({ method: 'openGate', about }),
    countOf: about => through.ask({ method: 'countOf', about }),
    wasStopped: about => through.ask({ method: 'wasStopped', about }),
    async restart(about) {
      await through.ask({ method: 'crash', about })
      return host
    },
    stored: folder.contents,
    async close() {
      await workerd.stop()
      await folder.remove()
    },
  }
}

describe('durableState', () => {
  runHostContract(make, { atOnce: 10, countsAll: false, races: 100, rounds: 30 })

  it('counts runs at work, though what counts them has left memory', async () => {
    const { host, crashIndex, close } = await make({ maxRunning: 3, maxRunningPerOwner: 2 })
    const refused = (client: string) =>
      begin(host, [never], { client }).then(
        () => undefined,
        error => error.code,
      )
    try {
      const [one, other] = [unique('client'), unique('client')]
      const [first] = [
        await begin(host, [never], { client: one }),
        await begin(host, [never], { client: one }),
      ]
      await crashIndex('anonymous')
      expect(await refused(one)).toBe('too_many_runs')
      await begin(host, [never], { client: other })
      expect(await refused(other)).toBe('too_many_runs')
      await crashIndex('anonymous')
      await host.cancel(first.id, null)
      await waitFor(async () => (await refused(one)) === undefined)
    } finally {
      await close()
    }
  })

  describe('with several indices for runs without an identity', () => {
    const nobody = null
    let made: Awaited<ReturnType<typeof make>>
    beforeAll(async () => {
      made = await make({ maxRunning: 12, maxRunningPerOwner: 2, retentionMs: 60_000 }, 3)
    })
    afterAll(() => made.close())

    it('lists all of them in one order, page by page', async () => {
      const { host } = made
      const begun: string[] = []
      for (let i = 0; i < 12; i++) {
        const { id } = await begin(host, [{ say: 'hi' }], { client: unique('client') })
        await ending(host, id)
        begun.push(id)
      }
      const listed = await listAll(host, nobody, { limit: 5 })
      expect(listed.map(({ id }) => id).toSorted()).toEqual(begun.toSorted())
      const times = listed.map(({ createdAt }) => createdAt)
      expect(times).toEqual(times.toSorted().toReversed())
      const ended = await listAll(host, nobody, { limit: 100, status: 'completed' })
      expect(ended).toHaveLength(12)
      // Of twelve clients some are with each.
      for (const name of ['anonymous', 'anonymous:1', 'anonymous:2']) await made.crashIndex(name)
      expect((await listAll(host, nobody, { limit: 100 })).length).toBe(12)
    })

    it('finds them by what the log shows, and tells the right index of an end that nobody saw', async () => {
      const { host } = made
      for (let i = 0; i < 6; i++) {
        const { id } = await begin(host, [never], { client: unique('client') })
        expect((await host.find(id.slice(0, 8))).map(found => found.id)).toContain(id)
        await made.restart(id)
        const failed = await listAll(host, nobody, { limit: 100, status: 'failed' })
        expect(failed.map(run => run.id)).toContain(id)
      }
      expect(await listAll(host, nobody, { limit: 100, status: 'running' })).toEqual([])
    })

    it('counts the runs of each client, wherever they are listed', async () => {
      const { host } = made
      const client = unique('client')
      const ids: string[] = []
      for (let i = 0; i < 2; i++) ids.push((await begin(host, [never], { client })).id)
      await expect(begin(host, [], { client })).rejects.toMatchObject({ code: 'too_many_runs' })
      for (const id of ids) await host.cancel(id, nobody)
      await waitFor(() => begin(host, [], { client }).then(Boolean, () => false))
    })
  })

  it('forgets a run when its time has come, and its key after that', async () => {
    const { host, close } = await make({ retentionMs: 500, waitingMs: 500, timeoutMs: 400 })
    try {
      const [owner, key] = [unique('owner'), newKey()]
      const { id } = await begin(host, [{ say: 'hi' }], { owner, key })
      await ending(host, id, owner)
      const codeOf = (): Promise<string | undefined> =>
        host.get(id, owner).then(
          () => 'kept',
          error => error.code ?? error.message,
        )
      await eventually(async () => expect(await codeOf()).toBe('run_not_found'))
      await waitFor(async () => (await host.list(owner, { limit: 10 })).runs.length === 0)
      await eventually(async () => {
        expect((await begin(host, [{ say: 'hi' }], { owner, key })).id).not.toBe(id)
      })
      // The same of a plain run that is kept, though no alarm was set when it began.
      const waiting = await kept(host, [{ ask: ['a'] }], owner)
      expect((await host.list(owner, { limit: 10 })).runs.map(run => run.id)).toContain(waiting)
      const answerOf = () => answer(host, waiting, { z: 1 }, { owner }).catch(error => error.code)
      await eventually(async () => expect(await answerOf()).toBe('run_not_found'))
      await waitFor(async () => !(await host.list(owner, { limit: 10 })).runs.some(run => run.id === waiting))
      const { id: other } = await begin(host, [{ say: 'again' }], { owner })
      expect((await ending(host, other, owner)).result?.text).toBe('again')
    } finally {
      await close()
    }
  })
})
