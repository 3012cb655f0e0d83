/** What every object with keepers does, whoever the keepers are, and what it makes of storage of another version. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogEntry } from '../../src/index.ts'
import { eventually } from '../eventually.ts'
import { type Runtime, startWorkerd } from './harness.ts'
import { root } from './process.ts'

const HOUR = 3_600_000

let server: Runtime | undefined
beforeAll(async () => {
  server = await startWorkerd('test/runtimes/entries/objects-workerd.ts')
})
afterAll(() => server?.stop())

const open = async (call: object): Promise<Response> => {
  const response = await fetch(`${server?.url}/door`, { method: 'POST', body: JSON.stringify(call) })
  if (response.ok) return response
  throw Object.assign(new Error(), await response.json())
}
const door = async <T>(call: object): Promise<T> => ((await (await open(call)).json()) as { value: T }).value

let objects = 0
/** An object that nobody has asked yet. */
function fresh(className: 'run' | 'index') {
  const name = `object-${++objects}`
  const look = <T>(method: string, ...args: unknown[]) =>
    door<T>({ do: 'look', className, name, method, args })
  return {
    name,
    ask: <T>(keeper: string, method: string, ...args: unknown[]) =>
      door<T>({ do: 'ask', className, place: name, keeper, method, args }),
    alarmAt: () => look<number | null>('alarmAt'),
    ring: () => look<null>('ring'),
    sql: <T>(query: string, ...values: unknown[]) => look<T[]>('sql', query, ...values),
    tables: () => look<unknown[]>('sql', "SELECT name FROM sqlite_master WHERE name LIKE 'object_%'"),
  }
}

const later = (hours: number) => Date.now() + hours * HOUR

describe('what a keeper answers', () => {
  it('keeps the code, message and issues of an error', async () => {
    await expect(fresh('run').ask('one', 'refuse')).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'Not so',
      issues: [{ path: 'a', message: 'is wrong' }],
    })
  })

  it('is masked where it is no error of ours, and told to the log where its stack is', async () => {
    await door({ do: 'log' })
    await expect(fresh('run').ask('one', 'breakDown')).rejects.toMatchObject({ code: 'internal_error' })
    const told = await door<LogEntry[]>({ do: 'log' })
    expect(told).toMatchObject([{ level: 'error', event: 'object.failed' }])
    expect(JSON.stringify(told)).toContain('Out of order')
  })

  it('may be a stream of bytes', async () => {
    const call = { do: 'ask', className: 'run', place: 'streams', keeper: 'one', method: 'stream', args: [] }
    expect(await (await open(call)).text()).toBe('one\ntwo\n')
  })

  it('is `invalid_options` where there is no such keeper, or no such method', async () => {
    const missing = fresh('run').ask('notes', 'all')
    await expect(missing).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringMatching(
        /`ServableRun` does not know the plugin `notes`: .*durableObjects\(handler\)/,
      ),
    })
    for (const method of ['none', 'constructor', 'toString']) {
      await expect(fresh('index').ask('counts', method)).rejects.toMatchObject({
        code: 'invalid_options',
        message: expect.stringContaining(`\`${method}\``),
      })
    }
  })

  it('says which plugin a class needs', async () => {
    const call = {
      do: 'ask',
      className: 'metrics',
      place: 'metrics:0',
      keeper: 'metrics',
      method: 'read',
      args: [],
    }
    await expect(door(call)).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('`ServableMetrics` does not know the plugin `metrics`'),
    })
    await expect(door({ do: 'forward' })).rejects.toMatchObject({
      message: expect.stringContaining('give `eventSocket()` to the handler'),
    })
  })

  it('is of an object whose name tells no key', async () => {
    const place = { name: 'place', key: 'secret' }
    const at = { do: 'ask', className: 'index', keeper: 'counts' }
    await door({ ...at, place, method: 'put', args: ['a', later(1)] })
    const name = `place:${createHash('sha256').update('secret').digest('hex')}`
    expect(await door({ ...at, place: name, method: 'get', args: ['a'] })).toBe('a')
  })
})

describe('`durableObjects`', () => {
  it.each(['function', 'options'])('needs a handler, and says so of a %s', async what => {
    await expect(door({ do: 'objectsOf', what })).rejects.toMatchObject({
      code: 'invalid_options',
      message: '`durableObjects` needs a handler: durableObjects(createHandler({ … }))',
    })
  })
})

describe('the alarm that keepers share', () => {
  it('is the soonest moment that any of them wants', async () => {
    const { ask, alarmAt } = fresh('run')
    const [soon, late] = [later(1), later(2)]
    await ask('one', 'wakeBy', late)
    expect(await alarmAt()).toBe(late)
    await ask('two', 'wakeBy', soon)
    expect(await alarmAt()).toBe(soon)
    await ask('one', 'wakeBy', late)
    expect(await alarmAt()).toBe(soon)
  })

  it('is moved by a keeper that is alone, and by no other', async () => {
    const { ask, alarmAt } = fresh('run')
    const [soon, late, latest] = [later(1), later(2), later(3)]
    await ask('one', 'put', 'a')
    await ask('one', 'wakeAt', soon)
    await ask('one', 'wakeAt', late)
    expect(await alarmAt()).toBe(late)
    await ask('two', 'put', 'a')
    await ask('one', 'wakeAt', latest)
    expect(await alarmAt()).toBe(late)
    await ask('one', 'wakeAt', soon)
    expect(await alarmAt()).toBe(soon)
  })

  it.each(['soon', 'late'])(
    'is the earlier of two times that are asked for at once, where it was set to %s',
    async was => {
      const { ask, alarmAt } = fresh('run')
      const [soon, late] = [later(2), later(3)]
      await ask('one', 'put', 'a')
      await ask('one', 'wakeBy', was === 'soon' ? later(1) : later(4))
      await ask('one', 'wakeAtAndBy', late, soon)
      expect(await alarmAt()).toBe(soon)
    },
  )

  it('rings once more where a keeper asks for the millisecond in which it rings, and at no part of one', async () => {
    const { ask, alarmAt } = fresh('run')
    await ask('one', 'put', 'a')
    const at = Date.now() + 200
    await ask('one', 'plan', at, false)
    await ask('one', 'wakeBy', at - 0.25)
    expect(await alarmAt()).toBe(at)
    await eventually(async () => expect(await ask('one', 'alarms')).toBeGreaterThan(2))
    await ask('one', 'plan', undefined, false)
  })

  it('asks all of them, and is set to the soonest moment that they say', async () => {
    const { ask, alarmAt, ring } = fresh('run')
    const [soon, late] = [later(1), later(2)]
    await ask('one', 'put', 'a')
    await ask('one', 'plan', late, false)
    await ask('two', 'plan', soon, false)
    await ring()
    expect([await ask('one', 'alarms'), await ask('two', 'alarms')]).toEqual([1, 1])
    expect(await alarmAt()).toBe(soon)
  })

  it('asks a keeper that failed again, and the others as if nothing were', async () => {
    const { ask, alarmAt, ring } = fresh('run')
    await ask('one', 'put', 'a')
    await ask('one', 'plan', undefined, true)
    await ask('two', 'plan', later(2), false)
    await door({ do: 'log' })
    await ring()
    expect(await ask('two', 'alarms')).toBe(1)
    expect(await door({ do: 'log' })).toMatchObject([{ event: 'object.failed' }])
    const at = await alarmAt()
    expect(at).toBeGreaterThan(Date.now())
    expect(at).toBeLessThan(later(1))
  })
})

describe('an object', () => {
  it('is left empty by whoever only reads', async () => {
    const { ask, tables, name } = fresh('index')
    expect(await ask('counts', 'get', 'a')).toBeNull()
    expect(await ask('notes', 'all', name)).toEqual([])
    expect(await ask('core:run', 'list', null, { limit: 10 })).toMatchObject({ runs: [] })
    expect(await tables()).toEqual([])
  })

  it('clears itself when nothing is left in it', async () => {
    const { ask, ring, tables, alarmAt } = fresh('run')
    await ask('one', 'put', 'a')
    await ask('two', 'put', 'a')
    await ask('one', 'drop', 'a')
    await ring()
    expect(await tables()).not.toEqual([])
    await ask('two', 'drop', 'a')
    await ring()
    expect([await tables(), await alarmAt()]).toEqual([[], null])
  })

  it('keeps what is of a plugin that is not there any more', async () => {
    const { ask, ring, sql } = fresh('run')
    await ask('one', 'put', 'a')
    await sql("UPDATE object_documents SET collection = 'gone'")
    await ring()
    expect(await sql('SELECT id FROM object_documents')).toEqual([{ id: 'a' }])
  })

  it('is let go by a keeper that is alone, and by no other', async () => {
    const { ask, tables, alarmAt } = fresh('run')
    await ask('one', 'put', 'a')
    await ask('one', 'wakeBy', later(1))
    await ask('two', 'put', 'a')
    expect(await ask('one', 'letGo')).toBe(false)
    expect(await tables()).not.toEqual([])
    await ask('two', 'drop', 'a')
    expect(await ask('one', 'letGo')).toBe(true)
    expect([await tables(), await alarmAt()]).toEqual([[], null])
  })

  it('holds in memory alone what is to pass', async () => {
    const { ask, tables } = fresh('run')
    await ask('one', 'pass', 'a')
    expect([await ask('one', 'passed'), await ask('two', 'passed')]).toEqual([1, 0])
    expect(await tables()).toEqual([])
  })
})

describe('the keeper of transactions', () => {
  it('rings when the first document expires, deletes it, and goes on until the last', async () => {
    const { ask, alarmAt, ring, tables } = fresh('index')
    const [first, last] = [Date.now() + 1, later(1)]
    await ask('counts', 'put', 'b', last)
    expect(await alarmAt()).toBe(last)
    await ask('counts', 'put', 'a', first)
    await eventually(async () => expect(await ask('counts', 'get', 'a')).toBeNull())
    await eventually(async () => expect(await alarmAt()).toBe(last))
    await ask('counts', 'put', 'b', Date.now())
    await ring()
    await eventually(async () => expect(await tables()).toEqual([]))
  })

  it('keeps what a plugin of others keeps, and deletes it when it has expired', async () => {
    const { ask, alarmAt, ring, sql, name } = fresh('index')
    await ask('notes', 'add', name, 'for good')
    await ask('notes', 'add', name, 'for now', later(1))
    expect(await alarmAt()).toBeGreaterThan(Date.now())
    await sql('UPDATE object_documents SET expires = 1 WHERE expires IS NOT NULL')
    await ring()
    expect(await sql('SELECT COUNT(*) AS n FROM object_documents')).toEqual([{ n: 1 }])
    expect(await ask('notes', 'all', name)).toEqual(['for good'])
    expect(await alarmAt()).toBeNull()
  })
})

interface StoredObject {
  readonly class: 'run' | 'index'
  readonly name: string
  readonly tables: readonly {
    readonly name: string
    readonly sql: string
    readonly rows: readonly Readonly<Record<string, string | number | null>>[]
  }[]
}

describe('storage of version 1', () => {
  let stored: readonly StoredObject[]
  const nameOf = (prefix: string) => stored.find(({ name }) => name.startsWith(prefix))?.name ?? ''
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    (await fetch(`${server?.url}${path}`, { headers })).json()

  beforeAll(async () => {
    const path = join(root, 'test/runtimes/fixtures/objects-v1.json')
    stored = JSON.parse(await readFile(path, 'utf8')) as StoredObject[]
    for (const { class: className, name, tables } of stored) {
      const sql = (query: string, ...values: unknown[]) =>
        door({ do: 'look', className, name, method: 'sql', args: [query, ...values] })
      for (const table of tables) {
        await sql(table.sql)
        for (const row of table.rows) {
          const columns = Object.keys(row)
          const places = columns.map(() => '?').join(', ')
          await sql(
            `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${places})`,
            ...Object.values(row),
          )
        }
      }
    }
  })

  it('gives its runs, their events and their idempotency keys', async () => {
    const { runs } = (await get('/api/runs')) as { runs: { id: string }[] }
    const id = runs[0]?.id ?? ''
    expect(await get(`/api/runs/${id}`)).toMatchObject({
      id,
      status: 'completed',
      result: { text: 'You said: Hello' },
    })
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'the-key' }
    const body = JSON.stringify({ input: 'Hello', background: true, sessionId: 's1' })
    const again = await fetch(`${server?.url}/api/agents/echo/stream`, { method: 'POST', headers, body })
    const events = [...(await again.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) =>
      JSON.parse(data ?? ''),
    )
    expect(events.map(({ text, type }) => text ?? type)).toEqual(['You said: ', 'Hello', 'finish'])
    expect(((await get('/api/runs')) as { runs: unknown[] }).runs).toHaveLength(1)
  })

  it('gives its tasks, sessions and corrections', async () => {
    const id = nameOf('task:').slice('task:'.length)
    expect(await get(`/tasks/${id}`, { 'a2a-version': '1.0' })).toMatchObject({
      id,
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'You said: Hello' }] }],
    })
    expect(await door({ do: 'session', place: 'agent:echo', sessionId: 's1' })).toHaveLength(2)
    expect(await get('/api/agents/echo/corrections')).toMatchObject({
      corrections: [{ originalValue: 'You said', correctedValue: 'I heard' }],
    })
  })
})

describe('storage of a newer version', () => {
  it('is refused, says what to do, and is left as it is', async () => {
    const { ask, sql, ring, alarmAt, tables } = fresh('run')
    await sql('CREATE TABLE object_documents_v2 (whatever TEXT)')
    for (const [keeper, method] of [
      ['one', 'put'],
      ['one', 'drop'],
      ['core:run', 'get'],
    ] as const) {
      await expect(ask(keeper, method, 'a')).rejects.toMatchObject({
        code: 'state_unavailable',
        message: expect.stringMatching(/storage version 2, .* up to 1: deploy the newer version again/),
      })
    }
    await ring()
    expect(await tables()).toEqual([{ name: 'object_documents_v2' }])
    expect(await alarmAt()).toBeGreaterThan(Date.now())
  })
})
