/** What is at work over one database file: who keeps it open, who ends it, and who is told. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LocalState } from '../../src/core/local-state.ts'
import { Agent } from '../../src/index.ts'
import type { Message } from '../../src/protocols/a2a/model.ts'
import { createLocalTaskHost } from '../../src/protocols/a2a/tasks/local-task-host.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { RUNNING } from '../../src/runs/stored/record.ts'
import { WORKERS } from '../../src/runs/stored/recovery.ts'
import { openDatabase, sqliteState } from '../../src/runtimes/sqlite.ts'
import { answer, goOn, kept } from '../contracts/run-host/answering.ts'
import { type Folder, newFolder } from '../contracts/run-host/folder.ts'
import { begin, ending, eventsIn, read, rest, unique, waitFor } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { countOf, openGate, wasStopped } from '../contracts/run-host/scripted.ts'
import { eventually } from '../eventually.ts'

let folder: Folder
beforeEach(async () => {
  folder = await newFolder()
})
afterEach(() => folder.remove())

const path = () => join(folder.path, 'runs.db')
const open = (): LocalState => {
  const state = sqliteState({ path: path() })
  onTestFinished(() => state.store.close())
  return state
}
const hostOn = (state: LocalState) => createLocalHost({ ...state, settings: SETTINGS })
const locks = async () => (await readdir(folder.path)).filter(name => name.endsWith('.lock'))

/** Another one writes into the file until it is let go. */
function writeLong(): () => void {
  const driver = openDatabase(path())
  driver.run('BEGIN IMMEDIATE')
  return () => {
    driver.run('ROLLBACK')
    driver.close()
  }
}

describe('what is at work', () => {
  it('keeps the file open when the last server has let go of it, and closes it when it ends', async () => {
    const state = open()
    const gate = unique('gate')
    const { id } = await begin(hostOn(state), [{ say: 'a' }, { gate }])
    const letGo = state.retain?.()
    letGo?.()
    const neighbour = open()
    const others = hostOn(neighbour)
    expect((await others.get(id, null)).status).toBe('running')
    openGate(gate)
    expect((await ending(others, id)).status).toBe('completed')
    await waitFor(async () => (await locks()).length === 1)
    expect(neighbour.store.isAlive(state.store.instance)).toBe(false)
  })

  it('does not close a file that no server has let go of', async () => {
    const state = open()
    const host = hostOn(state)
    await ending(host, (await begin(host, [{ say: 'a' }])).id)
    expect(await locks()).toHaveLength(1)
    expect(existsSync(`${path()}-wal`)).toBe(true)
  })

  it('is ended at the first look, though nobody wrote down who did it', async () => {
    const dead = open()
    const { id } = await begin(hostOn(dead), [{ say: 'a' }, { gate: unique('never') }])
    await dead.store.write(tx => {
      for (const { id: name } of tx.list(WORKERS, { partition: RUNNING, limit: 10 })) tx.delete(WORKERS, name)
    })
    dead.store.close()
    const state = open()
    expect(await hostOn(state).get(id, null)).toMatchObject({ error: { code: 'interrupted' } })
    expect(await state.store.read(tx => tx.count(RUNNING))).toBe(0)
  })

  it('of the dead can be read while another one writes, and is ended after that', async () => {
    const dead = open()
    const { id } = await begin(hostOn(dead), [{ say: 'a' }, { gate: unique('never') }])
    const state = open()
    const host = hostOn(state)
    await host.list(null, { limit: 1 })
    dead.store.close()
    const letGo = writeLong()
    expect((await host.get(id, null)).status).toBe('running')
    const following = rest(await host.follow(id, null, 0))
    letGo()
    expect(eventsIn(await following).at(-1)).toMatchObject({ type: 'error', code: 'interrupted' })
  })

  it('and says nothing hears soon that another process has ended it', async () => {
    const state = open()
    const host = hostOn(state)
    const { id } = await begin(host, [{ say: 'a' }, { gate: unique('never') }])
    const following = rest(await host.follow(id, null, 0))
    await hostOn(open()).cancel(id, null)
    await host.lookAfter?.()
    await waitFor(() => wasStopped(id))
    expect(eventsIn(await following).at(-1)).toMatchObject({ type: 'finish', finishReason: 'cancelled' })
    expect(eventsIn(await read(host, id)).filter(({ type }) => type === 'finish')).toHaveLength(1)
  })
})

describe('a run that waits', () => {
  it('is answered through two openings of the file at once, and goes on once', async () => {
    const hosts = [hostOn(open()), hostOn(open())] as const
    for (let round = 0; round < 50; round++) {
      const count = unique('count')
      const id = await kept(hosts[round % 2]!, [{ ask: ['a'] }, { count }])
      const values = [1, round % 2 === 0 ? 1 : 2]
      const ends = await Promise.allSettled(
        hosts.map(async (host, index) => goOn(host, await answer(host, id, { a: values[index] }))),
      )
      const { continuedBy: next = '' } = await hosts[0].get(id, null)
      const ids = ends.flatMap(end => (end.status === 'fulfilled' ? [end.value.id] : []))
      expect(ids).toEqual(values[1] === 1 ? [next, next] : [next])
      for (const host of hosts) expect((await ending(host, next)).status).toBe('completed')
      expect(countOf(count)).toBe(1)
    }
  })

  it('is answered in a process that was not there when it asked', async () => {
    const before = open()
    const id = await kept(hostOn(before), [{ ask: ['a'] }])
    before.store.close()
    const host = hostOn(open())
    const { id: next } = await goOn(host, await answer(host, id, { a: 1 }))
    expect((await ending(host, next)).result?.text).toBe('1')
  })
})

describe('a file that is closed', () => {
  it('is not opened again by what waits to be read', async () => {
    const state = open()
    await state.store.write(() => {})
    let isBroken = true
    const reading = Promise.resolve(
      state.store.read(() => {
        if (isBroken) throw new Error('the disk is gone')
      }),
    )
    state.store.close()
    isBroken = false
    await expect(reading).rejects.toMatchObject({ code: 'state_unavailable' })
    expect(await locks()).toEqual([])
  })
})

it('a task whose next turn begins in the commit in which one ends can be cancelled', async () => {
  const state = open()
  const ends = Promise.withResolvers<void>()
  const stopped = vi.fn()
  let turns = 0
  const agent = new Agent({
    name: 'turns',
    register: false,
    async *run(_input, { signal }) {
      yield 'a'
      if (++turns === 1) {
        await ends.promise
        return { finishReason: 'input_required' as const }
      }
      signal.addEventListener('abort', stopped)
      return new Promise<never>(() => {})
    },
  })
  const target = { kind: 'agent', name: 'turns', servable: agent } as const
  const settings = { ...SETTINGS, maxTasksPerOwner: 10, maxHistory: 100, push: undefined, onGivenUp() {} }
  const host = createLocalTaskHost({ ...state, settings, targetOf: () => target })
  const taskId = crypto.randomUUID()
  const message = (): Message => ({ messageId: crypto.randomUUID(), role: 'user', parts: [{ text: 'x' }] })
  const sent = { taskId, owner: null, options: {}, mayWait: false }
  await host.deliver({ ...sent, message: message(), target })
  // From here on what is written is gathered, and written together.
  await eventually(async () => expect((await host.get(taskId, { owner: null })).seq).toBeGreaterThan(2))
  await new Promise(resolve => setTimeout(resolve, 20))
  void state.store.write(() => {})
  ends.resolve()
  for (let tick = 0; tick < 50; tick++) await undefined
  const next = await host.deliver({ ...sent, message: message(), target: undefined })
  expect(next).toMatchObject({ view: { task: { status: { state: 'working' } } } })
  await eventually(() => expect(turns).toBe(2))
  expect((await host.cancel(taskId, { owner: null })).task.status.state).toBe('canceled')
  expect(stopped).toHaveBeenCalledOnce()
})
