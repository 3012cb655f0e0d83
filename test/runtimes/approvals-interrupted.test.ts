/**
 * Approvals whose process dies, whose object sleeps, and whose store has several processes.
 *
 * @module-tag long
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  type Asked,
  as,
  asked,
  bobOf,
  decide,
  get,
  inbox,
  type Server,
  wentOn,
} from '../contracts/approvals/client.ts'
import { expectGoesOn, socketOf, tell, WAYS } from '../contracts/approvals/ways.ts'
import { list } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { ELSEWHERE } from '../tags.ts'
import { storesOf } from './deployments.ts'
import { startEvicting } from './evicting.ts'
import type { Runtime } from './harness.ts'

const STORES = storesOf('approvals')

const newFolder = () => mkdtemp(join(tmpdir(), 'servable-approvals-'))

let folder: string
beforeEach(async () => {
  folder = await newFolder()
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const serverOf =
  (runtime: Runtime): Server =>
  () => ({ ...runtime, folder })

describe.each(Object.entries(STORES))('%s', ELSEWHERE, (_, start) => {
  it('lists and decides after a restart what was asked before', async () => {
    const first = await start(folder)
    const waiting = await asked(serverOf(first))
    const listed = await inbox(serverOf(first), waiting.ann)
    await first.kill()
    const second = await start(folder)
    onTestFinished(() => second.stop())
    const server = serverOf(second)
    expect(await inbox(server, waiting.ann)).toEqual(listed)
    expect(await inbox(server, bobOf(waiting), 'whose=others')).toMatchObject(listed)
    expect((await decide(server, waiting, bobOf(waiting))).status).toBe(200)
    expect((await wentOn(server, waiting)).result?.text).toContain(`paid 5 by ${waiting.ann}`)
  })

  describe('decided by another person, after the process was killed and a later version started', () => {
    const waiting: Asked[] = []
    let stored: string
    let runtime: Runtime
    const server: Server = () => ({ ...runtime, folder: stored })
    beforeAll(async () => {
      stored = await newFolder()
      runtime = await start(stored)
      for (const [, { ask }] of WAYS) waiting.push(await ask(server))
      await runtime.kill()
      runtime = await start(stored, 'later')
    })
    afterAll(async () => {
      await runtime.stop()
      await rm(stored, { recursive: true, force: true })
    })

    it.each(WAYS.map((way, index) => [...way, index] as const))('%s', async (_, way, index) => {
      const asked = waiting[index]!
      const said = await expectGoesOn(server, way, asked)
      expect(said).toMatch(new RegExp(`, thanks to ${asked.ann}$`))
    })
  })

  it('ends after a restart what has expired meanwhile', async () => {
    const first = await start(folder, 'refuse-brief')
    const waiting = await asked(serverOf(first))
    await first.kill()
    const second = await start(folder, 'refuse-brief')
    onTestFinished(() => second.stop())
    const server = serverOf(second)
    await eventually(async () => {
      expect((await list(server, '', as(waiting.ann))).runs[0]?.status).toBe('failed')
    })
  })
})

describe('two processes on one file', ELSEWHERE, () => {
  it.each([
    ['refuse-brief', 1],
    ['continue-brief', 2],
  ])('expire each approval once: %s', async (settings, count) => {
    const start = STORES['Node, in SQLite']
    const both = await Promise.all([start(folder, settings), start(folder, settings)])
    for (const each of both) onTestFinished(() => each.stop())
    const [one, other] = both.map(serverOf) as [Server, Server]
    const all = await Promise.all(Array.from({ length: 10 }, () => asked(one)))
    for (const { id, ann } of all) {
      await eventually(async () => {
        const records = await Promise.all([one, other].map(server => get(server, id, as(ann))))
        const isOver = ({ status, continuedBy }: (typeof records)[0]) =>
          status === 'failed' || continuedBy !== undefined
        expect(records.map(isOver)).toEqual([true, true])
        expect(records[0]).toEqual(records[1])
      })
      expect((await list(other, '', as(ann))).runs).toHaveLength(count)
    }
  })
})

describe('objects that sleep', ELSEWHERE, () => {
  const starting = (SETTINGS: string) =>
    startEvicting('test/contracts/approvals/service.ts', ['Run', 'Index', 'Gateway'], { SETTINGS })

  it('are decided in each way when they wake, also over a socket that stayed', async () => {
    const runtime = await starting('usual')
    onTestFinished(() => runtime.stop())
    const server: Server = () => runtime
    const { worker } = runtime
    /** Takes the object of what waits out of memory, and those of lists and of sockets. */
    const evict = async (name: string) => {
      await worker.evictDurableObject('ServableRun', { name })
      for (const className of ['ServableIndex', 'ServableGateway']) {
        for (const id of await worker.listDurableObjectIds(className)) {
          const evicting = worker.evictDurableObject(className, { id, webSockets: 'hibernate' })
          await evicting.catch(error => expect(String(error)).toContain('not currently running'))
        }
      }
    }
    for (const [, way] of WAYS) {
      const waiting = await way.ask(server)
      await evict(way.objectOf(waiting))
      await expectGoesOn(server, way, waiting)
    }
    const [, ofRun] = WAYS[0]!
    const waiting = await ofRun.ask(server)
    const socket = socketOf(server, bobOf(waiting))
    await eventually(async () => expect(await socket.ask('run.answers', {})).toHaveProperty('code'))
    await evict(waiting.id)
    await expectGoesOn(server, { ...ofRun, approve: () => tell(socket, waiting) }, waiting)
  })

  it('expire by their alarm', async () => {
    const runtime = await starting('continue-brief')
    onTestFinished(() => runtime.stop())
    const server: Server = () => runtime
    // On a slow machine one may have expired before its object has left.
    await eventually(async () => {
      const expired = await asked(server)
      const before = await runtime.made()
      await runtime.worker.evictDurableObject('ServableRun', { name: expired.id })
      // Nobody asks for the run: its owner's list hears of it.
      await eventually(async () => expect((await list(server, '', as(expired.ann))).runs).toHaveLength(2))
      // Its object, and that of the run that goes on.
      expect(await runtime.made()).toBeGreaterThanOrEqual(before + 2)
      expect((await wentOn(server, expired)).result?.text).toContain('not paid')
    })
  })
})
