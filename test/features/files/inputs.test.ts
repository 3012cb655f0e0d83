/** Inputs of runs, as turns keep them. */
import { afterEach, expect, it, vi } from 'vitest'
import type { FileStore } from '../../../src/features/files/plugin.ts'
import type { HandlerOptions } from '../../../src/index.ts'
import type { SessionSettings } from '../../../src/runs/sessions/session-record.ts'
import { leaveSession } from '../../../src/runs/sessions/session-turns.ts'
import { bound } from '../../../src/stores/bound.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Transaction } from '../../../src/stores/store.ts'
import { bytesOf } from '../../contracts/files/bytes.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'
import { never } from '../../support.ts'
import { filePart, filesIn, NOTHING, ownStore, service } from './kit.ts'

afterEach(() => void vi.useRealTimers())

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

/** A service whose agent says nothing of note. */
const kept = (own: Parameters<typeof service>[1] = {}, options: HandlerOptions = {}) =>
  service(() => [{ type: 'text', text: 'ok' }], own, options)

const OWNER = { owner: null, isStored: true }
const SESSION = { owner: null, place: ['agent:says'], sessionId: 's' }

it('an input has addresses while it is stored, and its data again for a model', async () => {
  const { run, files, ask, store, forget } = kept()
  const { id: runId } = await run()
  const input = [{ type: 'text', text: 'see' } as const, filePart(5000), filePart(3), filePart(3_000_000, 1)]
  const stored = await files.input({ ...OWNER, runId }, input, SESSION)
  expect(stored).toEqual([
    input[0],
    { ...input[1], data: `/api/runs/${runId}/input?part=1` },
    input[2],
    { ...input[3], data: `/api/runs/${runId}/input?part=3` },
  ])
  const response = await ask(`/api/runs/${runId}/input?part=1`)
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytesOf({ size: 5000 }))
  forget(runId)
  // The run is gone, and its turn may still come.
  expect(await files.restore({ ...OWNER, runId }, stored)).toEqual(input)
  pass(HOUR)
  await files.input({ ...OWNER, runId }, 'text', SESSION)
  await run()
  await eventually(() => expect(filesIn(store)).toEqual(NOTHING))
  expect(await files.restore({ ...OWNER, runId }, stored)).toEqual(stored)
})

it('an address that a client has made up is no file', async () => {
  const { run, files } = kept()
  const [{ id: one }, { id: other }] = [await run(), await run()]
  await files.input({ ...OWNER, runId: one }, [filePart(5000)], SESSION)
  for (const address of [`/api/runs/${one}/input`, `https://x.example/api/runs/${one}/input`]) {
    const claimed = [{ type: 'image', data: address } as const]
    expect(await files.restore({ ...OWNER, runId: other }, claimed)).toEqual(claimed)
  }
  expect(await files.input({ ...OWNER, runId: one }, 'text', SESSION)).toBe('text')
  expect(await files.restore({ ...OWNER, runId: one }, 'text')).toBe('text')
})

it('a turn keeps its files for as long as the session, and a run is told their names', async () => {
  const { send, turns, ask, store, forget } = kept()
  const { id } = await send([filePart(5000)], { background: true })
  expect(filesIn(store)).toMatchObject({ file: 1, 'file-reference': 2 })
  const [turn] = await turns()
  expect(turn?.input).toEqual([{ ...filePart(5000), data: `/api/runs/${id}/input` }])
  forget(id)
  for (let days = 1; days < 10; days++) {
    pass(DAY)
    await send('on')
    expect((await ask(`/api/runs/${id}/input`)).status).toBe(200)
  }
  pass(8 * DAY)
  await send('anew')
  await eventually(() => expect(filesIn(store)).toEqual(NOTHING))
  expect((await ask(`/api/runs/${id}/input`)).status).toBe(404)
})

it('files of a turn that newer ones push out go within a day', async () => {
  const { send, ask, store } = kept({}, { sessions: { maxTurns: 2 } })
  const { id } = await send([filePart(5000)])
  const { id: other } = await send([filePart(5000), filePart(6000)])
  await send('push')
  pass(HOUR)
  await send('look', { sessionId: 'other' })
  await eventually(() => expect(filesIn(store)).toMatchObject({ file: 2, 'file-reference': 2 }))
  expect((await ask(`/api/runs/${id}/input`)).status).toBe(404)
  expect((await ask(`/api/runs/${other}/input`)).status).toBe(200)
  await send('push')
  pass(DAY)
  await send('look', { sessionId: 'other' })
  await eventually(() => expect(filesIn(store)).toEqual(NOTHING))
})

it('a run that never has its session leaves no file that stays', async () => {
  const { send, store } = kept({}, { sessions: { concurrency: 'reject' }, runs: { timeoutMs: MINUTE } })
  let free = () => {}
  const gate = new Promise<void>(resolve => (free = resolve))
  const slow = service(
    async function* () {
      await gate
      yield { type: 'text', text: 'ok' }
    },
    {},
    { sessions: { concurrency: 'reject' } },
    store,
  )
  const first = slow.send('slow')
  await eventually(async () => expect(await slow.turns()).toHaveLength(1))
  expect((await send([filePart(5000)])).code).toBe('session_busy')
  expect(filesIn(store)).toMatchObject({ file: 1, 'file-reference': 1 })
  free()
  await first
  pass(3 * MINUTE)
  await send('look')
  await eventually(() => expect(filesIn(store)).toEqual(NOTHING))
})

it.each<[string, Parameters<typeof service>[1]]>([
  ['a store that throws', { store: { ...ownStore(), put: () => Promise.reject(new Error('disk full')) } }],
  ['an owner who has too much', { maxBytesPerOwner: 4999 }],
  ['a file that is too large', { maxFileBytes: 4999 }],
])('%s leaves a turn that names the file, and a run that has it', async (_, own) => {
  const heard: unknown[] = []
  const { send, turns, logged, store } = service(input => {
    heard.push(input)
    return [{ type: 'text', text: 'ok' }]
  }, own)
  const input = [{ ...filePart(50_000), filename: 'x.csv' }]
  expect(await send(input)).toMatchObject({ code: undefined })
  expect(heard).toEqual([input])
  const [turn] = await turns()
  expect(turn?.input).toEqual([{ type: 'text', text: '[a file that is not kept: x.csv]' }])
  expect(logged.map(({ event }) => event)).toContain('session.failed')
  await eventually(() => expect(filesIn(store)).toEqual(NOTHING))
})

it('a run that is cancelled while its input is stored ends at once', async () => {
  let isAsked = false
  const put: FileStore['put'] = () => {
    isAsked = true
    return never()
  }
  const { ask, turns } = kept({ store: { ...ownStore(), put } })
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
  const body = JSON.stringify({ input: [filePart(5000)], sessionId: 's' })
  const started = await ask('/api/agents/says/run', { method: 'POST', headers, body })
  const { id } = await started.json()
  const following = await ask(`/api/runs/${id}/stream`)
  await eventually(() => expect(isAsked).toBe(true))
  await ask(`/api/runs/${id}/cancel`, { method: 'POST' })
  expect(await following.text()).toContain('cancelled')
  expect(await turns()).toEqual([])
})

it('where nobody can say whether a turn is kept, its files stay', async () => {
  const { send, ask, store, logged } = kept()
  const { id } = await send([filePart(5000)])
  const read = store.read.bind(store)
  let isBroken = true
  store.read = work =>
    read(tx =>
      work({
        ...bound(tx as Transaction),
        get: (collection, key) => {
          if (isBroken && collection === 'session') throw new Error('dead')
          return tx.get(collection, key)
        },
      }),
    )
  pass(HOUR)
  await ask('/api/agents/says/run', jsonRequest({ input: 'x' }, { prefer: 'respond-async' }))
  await eventually(() => expect(logged.map(({ event }) => event)).toContain('files.failed'))
  isBroken = false
  pass(HOUR)
  await send('on')
  expect((await ask(`/api/runs/${id}/input`)).status).toBe(200)
})

it('in a full memory, files leave with the session that has them', async () => {
  const store = memoryStore(2_000_000)
  const { send, ask, turns } = service(() => [{ type: 'text', text: 'ok' }], {}, {}, store)
  const ids: string[] = []
  for (let n = 0; n < 12; n++) {
    const { id, code } = await send([filePart(200_000, n)], { sessionId: `s${n}` })
    expect(code).toBeUndefined()
    ids.push(id)
  }
  const statusOf = async (id = '') => (await ask(`/api/runs/${id}/input`)).status
  expect([await statusOf(ids[0]), await statusOf(ids.at(-1))]).toEqual([404, 200])
  expect(await turns('s0')).toEqual([])
  const { file, 'file-reference': references, 'file-piece': pieces } = filesIn(store)
  expect(file).toBeLessThan(6)
  expect([references, pieces]).toEqual([file, file])
})

it('files of a turn that another session has as well go with the last of both', async () => {
  const { send, ask, store, files, turns } = kept({}, { runs: { sessionRetentionMs: 10 * DAY } })
  const { id } = await send([filePart(5000)])
  const copied = { ...SESSION, sessionId: crypto.randomUUID() }
  const [turn] = await turns()
  const copies = JSON.stringify([turn, { input: [{ data: `/runs/${crypto.randomUUID()}/input?part=1` }] }])
  store.write(tx => {
    const settings = { maxTurns: 10, maxLength: 10_000, sessionRetentionMs: 20 * DAY } as SessionSettings
    leaveSession(tx, copied, { ...turn!, status: 'completed' }, undefined, settings)
  })
  await files.share?.(copies, null, copied)
  // Of somebody else they stay as they are.
  await files.share?.(copies, 'bob', { ...SESSION, owner: 'bob', sessionId: crypto.randomUUID() })
  expect(filesIn(store)).toMatchObject({ file: 1, 'file-reference': 2 })
  const look = () => send('look', { sessionId: 'other' })
  for (let days = 0; days < 12; days++) {
    pass(DAY)
    await look()
  }
  await eventually(() => expect(filesIn(store)).toMatchObject({ file: 1, 'file-reference': 1 }))
  expect((await ask(`/api/runs/${id}/input`)).status).toBe(200)
  for (let days = 0; days < 10; days++) {
    pass(DAY)
    await look()
  }
  await eventually(() => expect(filesIn(store)).toEqual(NOTHING))
})
