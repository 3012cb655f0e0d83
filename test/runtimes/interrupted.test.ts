/**
 * Servers that are killed in the middle of their runs, and started again on what they stored.
 *
 * @module-tag long
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunRecord } from '../../src/index.ts'
import type { Message } from '../contracts/http/client.ts'
import { messagesOf } from '../contracts/http/client.ts'
import {
  accept,
  as,
  cancel,
  ended,
  follow,
  get,
  list,
  noted,
  own,
  post,
  type Server,
  streamRequest,
} from '../contracts/runs/client.ts'
import { storesOf } from './deployments.ts'
import type { Runtime } from './harness.ts'

/** A run with what was seen of it before the server was killed. */
interface Seen {
  readonly record: RunRecord
  readonly messages: Message[]
}

type Owner = ReturnType<typeof as>

/** Starts a run that ends, and reads it to its end. */
async function finished(server: Server, name: string, input: string, owner: Owner): Promise<Seen> {
  const { id } = await accept(server, `agents/${name}`, { input }, owner)
  const messages = await follow(server, id, owner)
  return { record: await ended(server, id, owner), messages }
}

/** Starts a run that does not end, and reads some of its events. */
async function unfinished(server: Server, owner: Owner): Promise<Seen> {
  const record = await accept(server, 'agents/ticks', { input: 'x' }, owner)
  const messages: Message[] = []
  for await (const message of messagesOf(await streamRequest(server, record.id, owner))) {
    if (messages.push(message) === 30) break
  }
  return { record, messages }
}

const numbers = (messages: readonly Message[]) => messages.map(({ id }) => Number(id))

async function expectWhole(server: Server, { record, messages }: Seen, owner: Owner): Promise<void> {
  expect(await get(server, record.id, owner)).toEqual(record)
  expect(await follow(server, record.id, owner)).toEqual(messages)
}

async function expectInterrupted(server: Server, { record, messages }: Seen, owner: Owner): Promise<void> {
  const found = await get(server, record.id, owner)
  expect(found).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
  expect(found.result).toBeUndefined()
  const kept = await follow(server, record.id, owner)
  expect(kept.slice(0, messages.length)).toEqual(messages)
  expect(numbers(kept)).toEqual(kept.map((_, index) => index + 1))
  expect(kept.pop()?.event).toMatchObject({ type: 'error', code: 'interrupted' })
  for (const [index, { event }] of kept.entries()) {
    expect(event).toEqual({ type: 'text', text: `tick ${index + 1} ` })
  }
  expect((await cancel(server, record.id, owner)).status).toBe(409)
}

async function expectListed(server: Server, owner: Owner, status: string, seen: readonly Seen[]) {
  const { runs } = await list(server, `?limit=100&status=${status}`, owner)
  expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(seen.map(({ record }) => record.id)))
}

/** Every database in a folder opens and is in order. */
async function expectClean(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  const files = names.filter(name => /\.(db|sqlite)$/.test(name))
  expect(files).not.toEqual([])
  for (const file of files) {
    const database = new DatabaseSync(join(folder, file))
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    database.close()
  }
}

const starts = storesOf('runs')

describe.each(Object.entries(starts))('a server that is killed in the middle of 20 runs: %s', (_, start) => {
  let folder: string
  let runtime: Runtime
  const server: Server = () => ({ ...runtime, folder })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'servable-interrupted-'))
    runtime = await start(folder)
  })
  afterEach(async () => {
    await runtime.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('has after its restart every finished run whole, and every other one failed with the events it had', async () => {
    const owner = as(own('owner'))
    const open = Array.from({ length: 10 }, () => unfinished(server, owner))
    const inputs = Array.from({ length: 8 }, (_, index) => String(20 * (index + 1)))
    const counted = inputs.map(input => finished(server, 'counts', input, owner))
    const others = [finished(server, 'large', 'x', owner), finished(server, 'throws-late', 'x', owner)]
    const [interrupted, [large, failed], whole] = await Promise.all([
      Promise.all(open),
      Promise.all(others),
      Promise.all(counted),
    ])
    await runtime.kill()
    runtime = await start(folder)
    for (const seen of [...whole, large!, failed!]) await expectWhole(server, seen, owner)
    for (const seen of interrupted) await expectInterrupted(server, seen, owner)
    await finished(server, 'counts', '5', owner)
    await runtime.stop()
    await expectClean(folder)
  })

  it('tells of every run in the first list after its restart', async () => {
    const owner = as(own('owner'))
    const completed = await finished(server, 'counts', '5', owner)
    const interrupted = await Promise.all(Array.from({ length: 5 }, () => unfinished(server, owner)))
    await runtime.kill()
    runtime = await start(folder)
    await expectListed(server, owner, 'running', [])
    const { runs } = await list(server, '', owner)
    expect(runs.map(({ status }) => status)).toEqual([...interrupted.map(() => 'failed'), 'completed'])
    await expectListed(server, owner, 'completed', [completed])
    await expectListed(server, owner, 'failed', interrupted)
  })

  it('has the turns of a session, and lets the next run of it work', async () => {
    const sessionId = own('session')
    const gates = [own('gate'), own('gate')]
    const stored = await accept(server, 'agents/talks', { input: `says ${gates[0]}`, sessionId })
    const other = own('session')
    const plain = post(server, '/api/agents/talks/run', { input: `says ${gates[1]}`, sessionId: other })
    const cut = plain.catch(() => undefined)
    for (const gate of gates) await noted(server, `${gate} started`)
    await runtime.kill()
    await cut
    runtime = await start(folder)
    expect((await get(server, stored.id)).error?.code).toBe('interrupted')
    const turnsOf = async (id: string) => {
      const { text } = await post(server, '/api/agents/talks/run', { input: 'turns', sessionId: id })
      return JSON.parse(JSON.parse(text).text)
    }
    const interrupted = { status: 'interrupted', input: `says ${gates[0]}`, text: 'says ' }
    expect(await turnsOf(sessionId)).toMatchObject([interrupted, { status: 'running' }])
    const [turn] = await turnsOf(other)
    expect(turn).toMatchObject({ status: 'interrupted', input: `says ${gates[1]}` })
    expect(turn).not.toHaveProperty('text')
  })

  it('can be killed again and again', async () => {
    const owner = as(own('owner'))
    const rounds: Seen[] = []
    for (let round = 0; round < 3; round++) {
      rounds.push(await unfinished(server, owner))
      await runtime.kill()
      runtime = await start(folder)
    }
    for (const seen of rounds) await expectInterrupted(server, seen, owner)
    await runtime.stop()
    await expectClean(folder)
  })
})
