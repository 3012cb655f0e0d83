/** The turns of sessions: what is kept of a run however it ends, what a model is told, and who has a session. */

import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import {
  Agent,
  ServableError,
  type SessionsOptions,
  sequence,
  Team,
  type Turn,
  textOf,
} from '../../../src/index.ts'
import { appendSession } from '../../../src/runs/sessions/session-memory.ts'
import { idOf, LEASE_MS, MEMBERS, SESSIONS, TURNS } from '../../../src/runs/sessions/session-record.ts'
import { enterSession, turnsOf } from '../../../src/runs/sessions/session-turns.ts'
import { newRun } from '../../../src/runs/stored/new-run.ts'
import { RUNNING, RUNS, toDocument } from '../../../src/runs/stored/record.ts'
import { eventually } from '../../eventually.ts'
import { key, serve, session, settings, turn } from './session-kit.ts'

const wait = (ms: number) => vi.setSystemTime(Date.now() + ms)

afterEach(() => vi.useRealTimers())

describe('the line of a session', () => {
  it('is passed on in order, and holds 9 at the most', async () => {
    const { enter, leave } = session()
    const places = Array.from({ length: 9 }, (_, run) => enter(`${run}`)).map(
      entered => Object(entered).place,
    )
    expect(places).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(() => enter('9')).toThrow(expect.objectContaining({ code: 'session_busy' }))
    await leave('3', { status: 'running' })
    await leave('0')
    expect([enter('9'), enter('1'), enter('8')]).toMatchObject([{ place: 7 }, { place: 0 }, { place: 6 }])
  })

  it('passes over who is not heard of, whose turn is interrupted', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, beat, turns } = session()
    enter('dead')
    enter('waits')
    wait(LEASE_MS - 1)
    expect(enter('waits')).toMatchObject({ place: 1 })
    wait(1)
    expect(turns()).toMatchObject([{ runId: 'dead', status: 'interrupted' }])
    expect(enter('waits')).toMatchObject({ place: 0 })
    expect(beat('dead')).toBe(false)
    expect(turns()).toMatchObject([
      { runId: 'dead', status: 'interrupted' },
      { runId: 'waits', status: 'running' },
    ])
  })

  it('is kept by whoever is heard of, however long it works', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, beat } = session()
    enter('works')
    for (let beats = 0; beats < 20; beats++) {
      wait(5000)
      expect(beat('works')).toBe(true)
      expect(enter('waits')).toMatchObject({ place: 1 })
    }
  })

  it('keeps what one thought dead said, in its place', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, leave, turns } = session()
    enter('late')
    wait(LEASE_MS)
    enter('next')
    await leave('next')
    await leave('late', { status: 'cut', text: 'after all' })
    expect(turns()).toMatchObject([
      { runId: 'late', status: 'cut', text: 'after all' },
      { runId: 'next', status: 'completed' },
    ])
  })

  it('gives a run that goes on its own turn again, in its place', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, leave, turns, count } = session({ concurrency: 'reject' })
    enter('cut')
    const [{ at } = { at: 0 }] = turns()
    wait(LEASE_MS)
    enter('next')
    expect(turns()).toMatchObject([{ runId: 'cut', status: 'interrupted' }, { runId: 'next' }])
    expect(enter('cut', true)).toMatchObject({ place: 1, stops: [] })
    await leave('next')
    expect(enter('cut', true)).toMatchObject({ place: 0 })
    expect(turns()).toMatchObject([{ runId: 'cut', status: 'running' }, { runId: 'next' }])
    // It began when the worker before it began it.
    await leave('cut', { status: 'completed', text: 'all of it', at: Date.now() })
    expect(turns()).toMatchObject([{ runId: 'cut', text: 'all of it', at }, { runId: 'next' }])
    expect(count(TURNS)).toBe(2)
  })

  it('has one place with `reject`, and stops all others with `interrupt`', () => {
    const rejecting = session({ concurrency: 'reject' })
    rejecting.enter('a')
    expect(() => rejecting.enter('b')).toThrow(expect.objectContaining({ code: 'session_busy' }))
    const { enter, beat } = session({ concurrency: 'interrupt' })
    enter('a')
    expect(enter('b')).toMatchObject({ place: 1, stops: ['a'] })
    expect(enter('c')).toMatchObject({ place: 2, stops: ['a', 'b'] })
    expect(beat('a')).toBe(false)
    expect(enter('b')).toMatchObject({ isStopped: true })
    expect(enter('c')).toMatchObject({ isStopped: false, stops: [] })
  })
})

/** How many of the newest turns fit. */
function fitting(turns: readonly unknown[][], count: number, length: number): number {
  const hasRoom = (some: readonly unknown[]) =>
    some.length <= count && some.reduce<number>((sum, one) => sum + JSON.stringify(one).length, 0) <= length
  const sizes = turns.map((_, index) => index + 1)
  return sizes.filter(size => hasRoom(turns.slice(-size).flat())).length
}

describe('the window over the turns', () => {
  it('is of the newest turns that fit, whole and in order, and cuts no transcript', async () => {
    const said = fc.array(fc.tuple(fc.string({ maxLength: 40 }), fc.option(fc.string({ maxLength: 40 }))), {
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(
        said,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 20, max: 2000 }),
        async (all, count, length) => {
          const { enter, leave, read, turns } = session({
            maxSessionMessages: count,
            maxSessionLength: length,
          })
          const expected: unknown[][] = []
          for (const [index, [input, text]] of all.entries()) {
            enter(String(index))
            await leave(String(index), { input, status: 'completed', text: text ?? '' })
            if (text)
              expected.push([
                { role: 'user', content: input },
                { role: 'assistant', content: text },
              ])
          }
          const fits = fitting(expected, count, length)
          expect(Object(read()).messages).toEqual(fits === 0 ? [] : expected.slice(-fits).flat())
          expect(turns().map(({ input, text }) => [input, text])).toEqual(
            all.map(([input, text]) => [input, text ?? '']),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it('loses its oldest turns past its own bounds alone', async () => {
    const { enter, leave, turns, count } = session({ maxTurns: 3 })
    for (const run of ['a', 'b', 'c', 'd']) {
      enter(run)
      await leave(run)
    }
    expect(turns().map(({ runId }) => runId)).toEqual(['b', 'c', 'd'])
    const long = session({ maxLength: 1000 })
    for (const run of ['a', 'b', 'c', 'd']) {
      long.enter(run)
      await long.leave(run, { status: 'completed', text: run.repeat(300) })
    }
    expect(long.turns().map(({ runId }) => runId)).toEqual(['c', 'd'])
    expect(count(TURNS)).toBe(3)
  })

  it('tells what only one provider understands to that one alone', async () => {
    const { enter, leave, read } = session()
    const reasoning = { type: 'reasoning', text: 'hm', providerOptions: { one: { signature: 'x' } } }
    const text = { type: 'text', text: 'Hi', providerOptions: { one: { id: 'y' } } }
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [reasoning] },
      { role: 'assistant', content: [reasoning, text], providerOptions: { one: {} } },
    ]
    enter('a')
    await leave('a', { status: 'completed', text: 'Hi' }, messages)
    expect(Object(read('one')).messages).toEqual(messages)
    const plain = [messages[0], { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }]
    expect(Object(read('two')).messages).toEqual(plain)
    expect(Object(read()).messages).toEqual(plain)
  })

  it('tells messages that are too long as the text of the turn', async () => {
    const { enter, leave, read } = session({ maxSessionLength: 200 })
    enter('a')
    await leave('a', { input: 'Hi', status: 'completed', text: 'Hello' }, ['x'.repeat(300)])
    expect(Object(read()).messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ])
  })
})

describe('a session of an earlier version', () => {
  const old = [
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'A' },
    { role: 'user', content: 'Two' },
    { role: 'assistant', content: 'B' },
  ]
  const put = (store: ReturnType<typeof session>['store'], id: string) =>
    store.write(tx => {
      const expiresAt = tx.now + 60_000
      tx.put(SESSIONS, { id, partition: 'anonymous', at: tx.now, tags: {}, expiresAt, value: old })
    })

  it('is told before the turns of this one, and leaves by turns', async () => {
    const { store, enter, leave, read, turns } = session({ maxSessionMessages: 5 })
    put(store, idOf(key))
    expect(Object(read()).messages).toEqual(old)
    enter('a')
    expect(Object(read()).messages).toEqual(old)
    await leave('a', { input: 'Three', status: 'completed', text: 'C' })
    expect(Object(read()).messages).toEqual([
      ...old.slice(2),
      { role: 'user', content: 'Three' },
      { role: 'assistant', content: 'C' },
    ])
    expect(turns()).toHaveLength(1)
  })

  it('has what its members remember', () => {
    const { store, read, append } = session()
    const member = ['agent:m']
    put(store, JSON.stringify([null, [...key.place, ...member], 's']))
    append(['new'], member)
    expect(Object(read(undefined, member)).messages).toEqual([...old, 'new'])
  })
})

describe('what is kept of a session', () => {
  it('leaves with it: its turns, and what its members remember', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, leave, append, count, store } = session({ maxSessions: 1 })
    enter('a')
    append(['m'], ['agent:m'])
    await leave('a')
    expect([count(SESSIONS), count(TURNS), count(MEMBERS)]).toEqual([1, 1, 1])
    wait(10)
    store.write(tx =>
      appendSession(tx, { ...key, sessionId: 'other' }, { messages: [] }, { ...settings, maxSessions: 1 }),
    )
    expect([count(SESSIONS), count(TURNS), count(MEMBERS)]).toEqual([1, 1, 0])
  })

  it('has at most 100 members', () => {
    const { append, count } = session()
    for (let n = 0; n < 103; n++) append(['x'], [`agent:${n}`])
    expect(count(MEMBERS)).toBe(100)
  })
})

describe('a run with a session', () => {
  it('is kept before its servable is called, without keys and large files', async () => {
    let seen: readonly Turn[] = []
    const { say, turns } = serve(async (_, { memory }) => {
      seen = (await memory?.session()?.turns()) ?? []
      return 'my key-1'
    })
    const image = { type: 'image', data: 'A'.repeat(40_000), mimeType: 'image/png' } as const
    await say([{ type: 'text', text: 'key-1' }, image], { apiKey: 'key-1' })
    const input = [
      { type: 'text', text: '[redacted]' },
      { type: 'text', text: '[a file that is not kept: image/png]' },
    ]
    expect(seen).toMatchObject([{ input, status: 'running' }])
    expect(turns()).toMatchObject([{ input, text: 'my [redacted]', status: 'completed' }])
  })

  it('is `cut` where it fails or takes too long after a word, and `failed` before one', async () => {
    const { say, turns } = serve(
      async function* (input) {
        if (textOf(input) !== 'silent') yield 'Well'
        if (textOf(input) === 'hangs') await new Promise(() => {})
        throw new ServableError('provider_failed', 'no')
      },
      { runs: { timeoutMs: 100 } },
    )
    for (const input of ['fails', 'silent', 'hangs']) await say(input)
    expect(turns()).toMatchObject([
      { input: 'fails', status: 'cut', text: 'Well', error: 'provider_failed' },
      { input: 'silent', status: 'failed', error: 'provider_failed' },
      { input: 'hangs', status: 'cut', text: 'Well', error: 'run_timeout' },
    ])
  })

  it('is cut where its client leaves, and one that waits gives its place up', async () => {
    const gate = deferred<void>()
    const { post, say, turns } = serve(async function* () {
      yield 'Well'
      await gate.promise
    })
    const [first, second] = [new AbortController(), new AbortController()]
    const begun = post('agents/a/run', { input: 'one' }, { signal: first.signal })
    await eventually(() => expect(turns()).toHaveLength(1))
    const waiting = post('agents/a/run', { input: 'two' }, { signal: second.signal })
    second.abort()
    await waiting
    first.abort()
    await begun
    gate.resolve()
    await say('three')
    expect(turns()).toMatchObject([
      { input: 'one', status: 'cut', finishReason: 'cancelled', text: 'Well' },
      { input: 'three', status: 'completed' },
    ])
  })

  it('cancels the one at work with `interrupt`, and is told what that said', async () => {
    const { say, turns } = serve(
      async function* (input, { memory }) {
        if (textOf(input) !== 'waits') return JSON.stringify(await memory?.session()?.read())
        yield 'Well'
        await new Promise(() => {})
        return ''
      },
      { sessions: { concurrency: 'interrupt' } },
    )
    const first = say('waits')
    await eventually(() => expect(turns()).toHaveLength(1))
    expect(JSON.parse((await say('next')).text)).toEqual([
      { role: 'user', content: 'waits' },
      { role: 'assistant', content: 'Well' },
    ])
    expect(await first).toMatchObject({ finishReason: 'cancelled' })
    expect(turns().map(({ status }) => status)).toEqual(['cut', 'completed'])
  })

  it('can follow the one before at once with `reject`', async () => {
    const { say } = serve(() => 'ok', { sessions: { concurrency: 'reject' } })
    for (let runs = 0; runs < 50; runs++) expect(await say('again')).toMatchObject({ text: 'ok' })
  })

  it.each(['queue', 'reject'] as const)(
    'that goes on after an answer waits for its session with `%s`, however many do',
    async concurrency => {
      const gate = deferred<string>()
      const a = new Agent({
        name: 'a',
        register: false,
        async *run(input, { ask }) {
          if (textOf(input) !== 'asks') yield await gate.promise
          else yield `It is ${yield* ask('colour')}`
        },
      })
      const { say, post, turns } = serve(() => '', { agents: { a }, sessions: { concurrency } })
      const { runId, requests } = await say('asks')
      const others = [say('holds')]
      await eventually(() => expect(turns()).toHaveLength(2))
      if (concurrency === 'queue') for (let count = 0; count < 8; count++) others.push(say('waits'))
      const isFull = () => say('one more').then(({ code }) => expect(code).toBe('session_busy'))
      await eventually(isFull)
      const answers = [{ id: requests[0].id, value: 'red' }]
      const goesOn = post(`runs/${runId}/answers`, { answers })
      setTimeout(() => gate.resolve('done'), 100)
      expect(await (await goesOn).json()).toMatchObject({ text: 'It is red' })
      await Promise.all(others)
    },
  )

  it('has the session for its members too, whose memory has no turns', async () => {
    const member: Agent = new Agent({
      name: 'm',
      register: false,
      async run(input, { memory }) {
        const own = memory?.session(member)
        const before = (await own?.read()) ?? []
        await own?.append([textOf(input)])
        return `${before.join()};${(await own?.turns())?.length}`
      },
    })
    const team = new Team({ name: 't', members: [member], strategy: sequence, register: false })
    const { post, state } = serve(() => '', { teams: { t: team } })
    const ask = async (input: string) => (await (await post('teams/t/run', { input })).json()).text
    expect([await ask('one'), await ask('two')]).toEqual([';0', 'one;0'])
    const teamKey = { ...key, place: ['team:t'] }
    expect(state.store.read(tx => turnsOf(tx, teamKey))).toMatchObject([{ input: 'one' }, { input: 'two' }])
  })

  it('that a dead process left at work is made from its log', async () => {
    const { handler, state, turns } = serve(() => '')
    const id = crypto.randomUUID()
    const target = { kind: 'agent', name: 'a', servable: undefined as never } as const
    const run = newRun(
      { id, at: Date.now(), instance: 'gone', session: key },
      { target, options: { sessionId: 's' }, owner: null, key: undefined },
    )
    state.store.write(tx => {
      enterSession(tx, key, turn(id, 'Hello'), settings)
      tx.put(RUNS, toDocument(run))
      tx.put(RUNNING, { id, partition: '', at: 0, tags: {}, value: 'gone' })
      tx.append(id, JSON.stringify({ type: 'text', text: 'Half' }))
    })
    expect((await handler(new Request(`http://127.0.0.1/api/runs/${id}`))).status).toBe(200)
    await eventually(() =>
      expect(turns()).toMatchObject([
        { runId: id, input: 'Hello', text: 'Half', status: 'interrupted', error: 'interrupted' },
      ]),
    )
  })
})

describe('sessions.compact', () => {
  const compacting = (compact: NonNullable<SessionsOptions['compact']>) =>
    serve(async (_, { memory }) => JSON.stringify(await memory?.session()?.read()), {
      runs: { maxSessionMessages: 2 },
      sessions: { compact },
    })

  it('sums up each turn once that is told no more', async () => {
    const asked: unknown[] = []
    const { say } = compacting((turns, { summary, sessionId, owner }) => {
      asked.push([turns.map(({ input }) => input), summary, sessionId, owner])
      return `sum of ${turns.map(({ input }) => input)}`
    })
    for (const input of ['one', 'two', 'three']) await say(input)
    const told = JSON.parse((await say('four')).text)
    expect(asked).toEqual([
      [['one'], undefined, 's', null],
      [['two'], 'sum of one', 's', null],
    ])
    expect(told[0]).toEqual({
      role: 'user',
      content: '[Summary of earlier turns of this conversation]\nsum of two',
    })
    expect(told[1]).toEqual({ role: 'user', content: 'three' })
  })

  it('fails nothing where it throws', async () => {
    const { say, logged } = compacting(() => {
      throw new Error('no')
    })
    for (const input of ['one', 'two']) await say(input)
    expect(JSON.parse((await say('three')).text)).toHaveLength(2)
    expect(logged).toContain('session.failed')
  })
})

describe('what a run says about its end', () => {
  it.each([
    ['Which city?', undefined, 'Which city?'],
    ['Which city?', 'Let me see.', 'Let me see.\n\nWhich city?'],
    [[{ type: 'data', data: 1 }] as const, 'Done.', 'Done.'],
  ])('is kept with its turn: %j after %j', async (message, text, kept) => {
    const { say, turns } = serve(() => ({ message, ...(text !== undefined && { text }) }))
    expect(await say('hi')).toMatchObject({ message })
    await eventually(() => expect(turns()).toMatchObject([{ status: 'completed', text: kept }]))
  })
})
