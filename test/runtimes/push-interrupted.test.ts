/**
 * Receivers that are away while a server tells them of tasks, and servers and objects that end between two tries.
 *
 * @module-tag long
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hear, own, rpcCall, TONGUES } from '../contracts/a2a/client.ts'
import { type Received, type Receiver, startReceiver } from '../contracts/a2a/receiver.ts'
import { eventually } from '../eventually.ts'
import { storesOf } from './deployments.ts'
import { startEvicting } from './evicting.ts'

const TASKS = 12

/** Starts tasks that tell a receiver of themselves, each at a path of its own. */
async function startTasks(url: string, receiver: string): Promise<string[]> {
  const server = () => ({ url, folder: '', runtime: 'node' as const, log: () => '' }) as never
  const paths = Array.from({ length: TASKS }, () => `/${own('ok')}`)
  for (const path of paths) {
    const message = {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text: 'one two' }],
      metadata: { agentName: 'echo' },
    }
    const configuration = { taskPushNotificationConfig: { url: receiver + path, token: path } }
    const call = rpcCall({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } })
    const { value } = await hear(server, TONGUES.rpc1, call)
    expect(value).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } })
  }
  return paths
}

const stateOf = ({ payload }: Received) =>
  (payload as { statusUpdate?: { status: { state: string } } }).statusUpdate?.status.state

/** Every receiver was told everything, once and in order. */
async function expectTold(receiver: Receiver, paths: readonly string[]): Promise<void> {
  await eventually(() => {
    for (const path of paths) {
      const last = receiver.taken(path).at(-1)
      expect(last && stateOf(last)).toBe('TASK_STATE_COMPLETED')
    }
  })
  for (const path of paths) {
    const taken = receiver.taken(path)
    expect(taken.map(stateOf).filter(Boolean)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
    const places = taken.map(({ webhook }) => Number(webhook?.id.split('.').at(-1)))
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
    for (const { headers } of taken) expect(headers.get('x-a2a-notification-token')).toBe(path)
  }
}

const starts = storesOf('a2a')

describe.each(Object.entries(starts))('push notifications: %s', (_, start) => {
  it('reach a receiver that was away while the server ended and began again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-push-'))
    const before = await startReceiver()
    let runtime = await start(folder, 'patient')
    let receiver: Receiver | undefined
    try {
      await before.stop()
      const paths = await startTasks(runtime.url, before.url)
      await runtime.kill()
      runtime = await start(folder, 'patient')
      receiver = await startReceiver(before.port)
      await expectTold(receiver, paths)
    } finally {
      await runtime.stop()
      await receiver?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('push notifications: a server that ends while an agent is at work', () => {
  it('tells after its restart that the task has failed, asked by nobody', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-push-'))
    const start = starts['Node, in SQLite']
    const receiver = await startReceiver()
    let runtime = await start(folder, 'patient')
    try {
      const path = `/${own('ok')}`
      const server = () => ({ ...runtime, folder }) as never
      const message = {
        messageId: crypto.randomUUID(),
        role: 'ROLE_USER',
        parts: [{ text: own('gate') }],
        metadata: { agentName: 'gated' },
      }
      const configuration = {
        returnImmediately: true,
        taskPushNotificationConfig: { url: receiver.url + path },
      }
      const params = { message, configuration }
      await hear(server, TONGUES.rpc1, rpcCall({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }))
      await eventually(() => expect(receiver.taken(path).map(stateOf)).toContain('TASK_STATE_WORKING'))
      await runtime.kill()
      runtime = await start(folder, 'patient')
      await eventually(() => expect(receiver.taken(path).map(stateOf).at(-1)).toBe('TASK_STATE_FAILED'))
    } finally {
      await runtime.stop()
      await receiver.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('push notifications: objects that leave memory between two tries', () => {
  it('reach their receiver', async () => {
    const server = await startEvicting('test/contracts/a2a/service.ts', ['Run', 'Index'], {
      SETTINGS: 'patient',
    })
    const { url, worker, made } = server
    const before = await startReceiver()
    let receiver: Receiver | undefined
    try {
      await before.stop()
      const paths = await startTasks(url, before.url)
      const ids = await worker.listDurableObjectIds('ServableRun')
      expect(ids).toHaveLength(TASKS)
      expect(await made()).toBe(TASKS)
      for (const id of ids) await worker.evictDurableObject('ServableRun', { id })
      // Nothing but its alarm brings an object back: workerd calls one that was set before an eviction some ten seconds later,
      // and an object that left in the middle of a try waits for the end of its claim before that.
      await eventually(async () => expect(await made()).toBe(TASKS * 2), 60_000)
      receiver = await startReceiver(before.port)
      await expectTold(receiver, paths)
    } finally {
      await server.stop()
      await receiver?.stop()
    }
  }, 300_000)
})
