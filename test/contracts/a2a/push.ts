import {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../../eventually.ts'
import { OVERCODED } from '../overcoded.ts'
import { as, ask, own, type Server } from '../runs/client.ts'
import { served } from '../served.ts'
import { hear, openGate, rpcCall, TONGUES } from './client.ts'
import { type Received, startReceiver } from './receiver.ts'
import { MAX_TRIES, WEBHOOK_SECRET } from './service.ts'
import { BINDINGS, stock03, stockV1 } from './stock.ts'

/** Calls a JSON-RPC method. */
async function rpc(server: Server, method: string, params: unknown, headers: Record<string, string> = {}) {
  const tongue = method.includes('/') ? TONGUES.rpc03 : TONGUES.rpc1
  const { value, error } = await hear(
    server,
    tongue,
    rpcCall({ jsonrpc: '2.0', id: 1, method, params }, headers),
  )
  // The tests check its content.
  // biome-ignore lint/suspicious/noExplicitAny: the result of any method.
  return { result: value as any, error }
}

const messageV1 = (text: string, agent: string, more: object = {}) => ({
  message: {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text }],
    metadata: { agentName: agent },
    ...more,
  },
})

const messageV03 = (text: string, agent: string) => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    metadata: { agentName: agent },
  },
})

/** Starts a task whose agent waits at a gate. */
async function waiting(server: Server, headers: Record<string, string> = {}) {
  const gate = own('gate')
  const { result } = await rpc(
    server,
    'SendMessage',
    { ...messageV1(gate, 'gated'), configuration: { returnImmediately: true } },
    headers,
  )
  return { id: result.task.id as string, gate }
}

/** The notifications to receivers, of both versions. */
interface Payload {
  statusUpdate?: { status: { state: string } }
  artifactUpdate?: { artifact: { parts: { text?: string }[] } }
  status?: { state: string }
}

const stateOf = ({ payload }: Received): string | undefined =>
  ((payload as Payload).statusUpdate ?? (payload as Payload)).status?.state

/** The text of all artifacts in notifications. */
const textOf = (received: readonly Received[]): string =>
  received
    .flatMap(({ payload }) => (payload as Payload).artifactUpdate?.artifact.parts ?? [])
    .map(({ text = '' }) => text)
    .join('')

const lastStateIs = (received: readonly Received[], state: string) => {
  expect(received.length).toBeGreaterThan(0)
  expect(stateOf(received.at(-1)!)).toBe(state)
}

/** Addresses that must be refused as receivers. */
const HOSTILE = [
  'http://127.0.0.2/',
  'https://127.0.0.2/',
  'https://2130706434/',
  'https://0x7f000002/',
  'https://0177.0.0.2/',
  'https://127.2/',
  'https://127.0.0.2./',
  'https://１２７.０.０.２/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://10.1/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://168.63.129.16/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.2]/',
  'https://[::ffff:7f00:2]/',
  'https://[::ffff:0:ac10:1]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[2002:a00:1::]/',
  'https://[ff02::1]/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://a.localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://intranet/',
  'https://user:pass@example.com/',
  'https://127.0.0.1@example.com/',
  'http://example.com/',
  'https://example.com:22/',
  'https://example.com:6379/',
  'https://1.1.1.1:8080/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://224.0.0.1/',
  // An address that does not exist (RFC 6761, section 6.4).
  'https://nothing.invalid/',
  'https://255.255.255.255/',
]

/** Notifications about tasks at addresses that clients give. */
export function pushCases(server: Server): void {
  const receiver = served(() => startReceiver())
  const at = (way: string) => {
    const path = `/${own(way)}`
    return { path, url: `${receiver().url}${path}` }
  }

  it('says on its cards that it can', async () => {
    for (const version of ['1.0', '0.3']) {
      const { text } = await ask(server, '/.well-known/agent-card.json', {
        headers: { 'a2a-version': version },
      })
      expect(JSON.parse(text).capabilities.pushNotifications).toBe(true)
    }
  })

  describe('configs, by stock clients', () => {
    it.each(BINDINGS)('of 1.x over %s', async binding => {
      const client = await stockV1(server().url, binding)
      const { id: taskId, gate } = await waiting(server)
      const { url } = at('ok')
      const set = (id: string) =>
        client.createTaskPushNotificationConfig(
          TaskPushNotificationConfig.fromJSON({
            taskId,
            id,
            url,
            token: 'token-1',
            authentication: { scheme: 'Bearer', credentials: 'abc' },
          }),
        )
      expect(await set('a')).toMatchObject({
        id: 'a',
        taskId,
        url,
        token: 'token-1',
        authentication: { scheme: 'Bearer' },
      })
      await set('b')
      expect(
        await client.getTaskPushNotificationConfig(
          GetTaskPushNotificationConfigRequest.fromJSON({ taskId, id: 'a' }),
        ),
      ).toMatchObject({ id: 'a', url })
      const list = async () =>
        (
          await client.listTaskPushNotificationConfig(
            ListTaskPushNotificationConfigsRequest.fromJSON({ taskId }),
          )
        ).configs.map(({ id }) => id)
      expect(await list()).toEqual(['a', 'b'])
      for (let times = 0; times < 2; times++) {
        await client.deleteTaskPushNotificationConfig(
          DeleteTaskPushNotificationConfigRequest.fromJSON({ taskId, id: 'a' }),
        )
      }
      expect(await list()).toEqual(['b'])
      await openGate(server, gate)
    })

    it.each(BINDINGS)('of 0.3 over %s', async binding => {
      const client = await stock03(server().url, binding)
      const { id: taskId, gate } = await waiting(server)
      const { url } = at('ok')
      const set = (id: string) =>
        client.setTaskPushNotificationConfig({
          taskId,
          pushNotificationConfig: {
            id,
            url,
            token: 'token-1',
            authentication: { schemes: ['Bearer'], credentials: 'abc' },
          },
        })
      expect(await set('a')).toMatchObject({
        taskId,
        pushNotificationConfig: { id: 'a', url, token: 'token-1', authentication: { schemes: ['Bearer'] } },
      })
      await set('b')
      const got = await client.getTaskPushNotificationConfig({
        id: taskId,
        // The type lacks this member of the wire.
        ...{ pushNotificationConfigId: 'a' },
      })
      expect(got.pushNotificationConfig).toMatchObject({ id: 'a', url })
      const list = async () =>
        (await client.listTaskPushNotificationConfig({ id: taskId })).map(
          ({ pushNotificationConfig }) => pushNotificationConfig.id,
        )
      expect(await list()).toEqual(['a', 'b'])
      await client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: 'a' })
      expect(await list()).toEqual(['b'])
      await openGate(server, gate)
    })
  })

  it('tells a client of 1.0 each status and artifact, in order, with its token, its credentials and our signature', async () => {
    const { path, url } = at('ok')
    const config = {
      url,
      token: 'the-token',
      authentication: { scheme: 'Bearer', credentials: 'the-credentials' },
    }
    const { result } = await rpc(server, 'SendMessage', {
      ...messageV1('one two three', 'echo'),
      configuration: { taskPushNotificationConfig: config },
    })
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED')
    await eventually(() => lastStateIs(receiver().taken(path), 'TASK_STATE_COMPLETED'))
    const taken = receiver().taken(path)
    expect(stateOf(taken[0]!)).toBe('TASK_STATE_WORKING')
    expect(textOf(taken)).toBe('one two three')
    expect(taken.filter(each => stateOf(each) === 'TASK_STATE_COMPLETED')).toHaveLength(1)
    for (const { headers, webhook, payload } of taken) {
      expect(headers.get('x-a2a-notification-token')).toBe('the-token')
      expect(headers.get('authorization')).toBe('Bearer the-credentials')
      expect(headers.get('content-type')).toBe('application/a2a+json')
      expect(webhook?.payload).toEqual(payload)
      expect(Object.values(payload)).toEqual([expect.objectContaining({ taskId: result.task.id })])
    }
    const places = taken.map(({ webhook }) => Number(webhook?.id.split('.').at(-1)))
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
  })

  it('tells a client of 0.3 the task, as of each status', async () => {
    const { path, url } = at('ok')
    const { result } = await rpc(server, 'message/send', {
      ...messageV03('one two', 'echo'),
      configuration: { pushNotificationConfig: { url, token: 'the-token' } },
    })
    await eventually(() => lastStateIs(receiver().taken(path), 'completed'))
    const taken = receiver().taken(path)
    expect(taken.map(stateOf)).toEqual(['working', 'completed'])
    expect(taken.at(-1)?.payload).toEqual(result)
    expect(taken[0]?.headers.get('content-type')).toBe('application/json')
  })

  it('tells who comes later what happens from then on', async () => {
    const { id: taskId, gate } = await waiting(server)
    const { path, url } = at('ok')
    const { result } = await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, url })
    // A configuration without an id gets the task's.
    expect(result).toEqual({ taskId, id: taskId, url })
    expect(receiver().tries(path)).toBe(0)
    await openGate(server, gate)
    await eventually(() => lastStateIs(receiver().taken(path), 'TASK_STATE_COMPLETED'))
    expect(receiver().taken(path).map(stateOf)).not.toContain('TASK_STATE_WORKING')
  })

  it('tells nobody any more whose config was deleted', async () => {
    const { id: taskId, gate } = await waiting(server)
    const [kept, gone] = [at('ok'), at('ok')]
    await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, id: 'a', url: gone.url })
    await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, id: 'b', url: kept.url })
    await rpc(server, 'DeleteTaskPushNotificationConfig', { taskId, id: 'a' })
    await openGate(server, gate)
    await eventually(() => lastStateIs(receiver().taken(kept.path), 'TASK_STATE_COMPLETED'))
    expect(receiver().tries(gone.path)).toBe(0)
  })

  it('tells of a cancel, and of a task that waits for its client and goes on', async () => {
    const { id, gate } = await waiting(server)
    const canceled = at('ok')
    await rpc(server, 'CreateTaskPushNotificationConfig', { taskId: id, url: canceled.url })
    await rpc(server, 'CancelTask', { id })
    await eventually(() => lastStateIs(receiver().taken(canceled.path), 'TASK_STATE_CANCELED'))
    await openGate(server, gate)

    const asking = at('ok')
    const first = await rpc(server, 'SendMessage', {
      ...messageV1('question', 'clerk'),
      configuration: { taskPushNotificationConfig: { url: asking.url } },
    })
    await eventually(() => lastStateIs(receiver().taken(asking.path), 'TASK_STATE_INPUT_REQUIRED'))
    await rpc(server, 'SendMessage', messageV1('Oslo', 'clerk', { taskId: first.result.task.id }))
    await eventually(() => lastStateIs(receiver().taken(asking.path), 'TASK_STATE_COMPLETED'))
  })

  it('tells receivers that fail, hang or hang up once more, and each thing once in the end', async () => {
    const tasks = Array.from({ length: 200 }, (_, index) =>
      at(['ok', 'fails', 'hangs', 'closes'][index % 4]!),
    )
    const send = ({ url }: { url: string }, index: number) =>
      rpc(server, 'SendMessage', {
        ...messageV1(`task number ${index}`, 'echo'),
        configuration: { taskPushNotificationConfig: { url } },
      })
    // A database on a busy machine may refuse two hundred at the same moment.
    for (let from = 0; from < tasks.length; from += 40) {
      const sent = await Promise.all(tasks.slice(from, from + 40).map((task, at) => send(task, from + at)))
      expect(sent.filter(({ error }) => error !== undefined)).toEqual([])
    }
    // As long as the test may take, since the machine may be busy.
    const soon = { timeout: 60_000, interval: 50 }
    await vi.waitFor(() => {
      for (const { path } of tasks) lastStateIs(receiver().taken(path), 'TASK_STATE_COMPLETED')
    }, soon)
    for (const [index, { path }] of tasks.entries()) {
      const taken = receiver().taken(path)
      expect(textOf(taken)).toBe(`task number ${index}`)
      expect(taken.filter(each => stateOf(each) !== undefined).map(stateOf)).toEqual([
        'TASK_STATE_WORKING',
        'TASK_STATE_COMPLETED',
      ])
      const places = taken.map(({ webhook }) => Number(webhook?.id.split('.').at(-1)))
      expect(places).toEqual([...places].sort((a, b) => a - b))
    }
  }, 300_000)

  it.each(OVERCODED)('outlives a receiver with too many codings: %s', async way => {
    // What ends the process comes with the end of the connection, or with the time limit, as the second one does.
    for (const { path, url } of [at(way), at('hangs')]) {
      await rpc(server, 'SendMessage', {
        ...messageV1('one two', 'echo'),
        configuration: { taskPushNotificationConfig: { url } },
      })
      await eventually(() => expect(receiver().tries(path)).toBeGreaterThan(1))
    }
  })

  it('tells the same once more where an answer was lost, whatever came meanwhile', async () => {
    const { path, url } = at('lost')
    await rpc(server, 'SendMessage', {
      ...messageV1('40', 'slow'),
      configuration: { taskPushNotificationConfig: { url } },
    })
    await eventually(() => lastStateIs(receiver().taken(path), 'TASK_STATE_COMPLETED'))
    const all = Array.from({ length: 40 }, (_, index) => `${index + 1} `).join('')
    expect(textOf(receiver().taken(path))).toBe(all)
    await eventually(() => expect(receiver().tries(path)).toBe(receiver().taken(path).length * 2))
  })

  it('tells a new address while the one before it hangs', async () => {
    const { id: taskId, gate } = await waiting(server)
    const [hangs, ok] = [at('hangs'), at('ok')]
    await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, id: 'a', url: hangs.url })
    await rpc(server, 'CancelTask', { id: taskId })
    await eventually(() => expect(receiver().tries(hangs.path)).toBe(1))
    await openGate(server, gate)
    const second = await waiting(server)
    await rpc(server, 'CreateTaskPushNotificationConfig', { taskId: second.id, id: 'a', url: hangs.url })
    await rpc(server, 'CreateTaskPushNotificationConfig', { taskId: second.id, id: 'a', url: ok.url })
    await openGate(server, second.gate)
    await eventually(() => lastStateIs(receiver().taken(ok.path), 'TASK_STATE_COMPLETED'))
  })

  it('lets nobody wait for those whose agents are at work', async () => {
    const tasks = await Promise.all(Array.from({ length: 30 }, () => waiting(server)))
    for (const { id: taskId } of tasks) {
      for (const id of ['a', 'b', 'c']) {
        await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, id, url: at('ok').url })
      }
    }
    const { path, url } = at('ok')
    await rpc(server, 'SendMessage', {
      ...messageV1('hi', 'echo'),
      configuration: { taskPushNotificationConfig: { url } },
    })
    await eventually(() => lastStateIs(receiver().taken(path), 'TASK_STATE_COMPLETED'))
    for (const { gate } of tasks) await openGate(server, gate)
  })

  it('does not hurry the next try of a receiver when something else is set', async () => {
    const { id: taskId, gate } = await waiting(server)
    const dead = at('dead')
    await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, id: 'a', url: dead.url })
    await openGate(server, gate)
    await eventually(() => expect(receiver().tries(dead.path)).toBeGreaterThan(0))
    for (let times = 0; times < 20; times++) {
      await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, id: 'b', url: at('ok').url })
    }
    await eventually(() => expect(receiver().tries(dead.path)).toBe(MAX_TRIES))
  })

  it('tells nobody of a bare message', async () => {
    const { path, url } = at('ok')
    const { result } = await rpc(server, 'SendMessage', {
      ...messageV1('hi', 'says'),
      configuration: { taskPushNotificationConfig: { url } },
    })
    expect(result.message).toBeDefined()
    const after = at('ok')
    await rpc(server, 'SendMessage', {
      ...messageV1('hi', 'echo'),
      configuration: { taskPushNotificationConfig: { url: after.url } },
    })
    await eventually(() => lastStateIs(receiver().taken(after.path), 'TASK_STATE_COMPLETED'))
    expect(receiver().tries(path)).toBe(0)
  })

  it.each(['a.b', 'ü€', 'line\nbreak', '__proto__', 'a/b'])('takes %j for the id of a config', async id => {
    const { path, url } = at('ok')
    await rpc(server, 'SendMessage', {
      ...messageV1('hi', 'echo'),
      configuration: { taskPushNotificationConfig: { id, url } },
    })
    await eventually(() => lastStateIs(receiver().taken(path), 'TASK_STATE_COMPLETED'))
    expect(receiver().taken(path)[0]?.webhook?.id.split('.')).toHaveLength(3)
  })

  it('gives receivers up that are gone, or fail too often, and follows no redirect', async () => {
    const [gone, dead, moved, ok] = [at('gone'), at('dead'), at('moved'), at('ok')]
    const [token, credentials] = [own('canary-token'), own('canary-credentials')]
    for (const { url } of [gone, dead, moved, ok]) {
      const { result } = await rpc(server, 'SendMessage', {
        ...messageV1('hi', 'echo'),
        configuration: {
          taskPushNotificationConfig: { url, token, authentication: { scheme: 'Bearer', credentials } },
        },
      })
      const list = await rpc(server, 'ListTaskPushNotificationConfigs', { taskId: result.task.id })
      expect(JSON.stringify([result, list.result])).not.toContain(credentials)
    }
    await eventually(() => {
      expect(receiver().tries(gone.path)).toBe(1)
      expect(receiver().tries(dead.path)).toBe(MAX_TRIES)
      expect(receiver().tries(moved.path)).toBe(MAX_TRIES)
      lastStateIs(receiver().taken(ok.path), 'TASK_STATE_COMPLETED')
    })
    expect(receiver().tries('/moved-here')).toBe(0)
    expect(server().log()).toContain('push.given_up')
    for (const secret of [dead.path, token, credentials, WEBHOOK_SECRET]) {
      expect(server().log()).not.toContain(secret)
    }
  })

  it.each(HOSTILE)('tells nobody at %s', async url => {
    const { id: taskId, gate } = await waiting(server)
    for (const { error } of [
      await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, url }),
      await rpc(server, 'SendMessage', {
        ...messageV1('hi', 'echo'),
        configuration: { taskPushNotificationConfig: { url } },
      }),
    ]) {
      expect(error?.code).toBe(-32602)
      expect(error?.message).toMatch(/The address|The host|must be a URL/)
    }
    await rpc(server, 'CancelTask', { id: taskId })
    await openGate(server, gate)
  })

  it('stores 10 configs of a task, replaces one of the same id, and refuses what is none', async () => {
    const { id: taskId, gate } = await waiting(server)
    const { url } = at('ok')
    const set = (more: object) => rpc(server, 'CreateTaskPushNotificationConfig', { taskId, url, ...more })
    for (const id of [...'abcdefghija']) expect((await set({ id })).error).toBeUndefined()
    expect((await set({ id: 'k' })).error).toMatchObject({ code: -32602 })
    expect((await rpc(server, 'ListTaskPushNotificationConfigs', { taskId })).result.configs).toHaveLength(10)
    for (const wrong of [
      { url: undefined },
      { url: 'no url' },
      { token: 'line\nbreak' },
      { authentication: { credentials: 'x' } },
      { authentication: { scheme: 'two words', credentials: 'x' } },
      { authentication: { scheme: 'Bearer', credentials: 'x'.repeat(5000) } },
    ]) {
      expect((await set({ id: 'a', ...wrong })).error).toMatchObject({ code: -32602 })
    }
    expect((await rpc(server, 'GetTaskPushNotificationConfig', { taskId, id: 'x' })).error).toMatchObject({
      code: -32001,
    })
    await openGate(server, gate)
  })

  it('gives the configs of a task page by page', async () => {
    const { id: taskId, gate } = await waiting(server)
    const { url } = at('ok')
    const ids = ['first', 'second/ü', 'third']
    for (const id of ids) await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, url, id })
    const page = async (more: object) => {
      const { result, error } = await rpc(server, 'ListTaskPushNotificationConfigs', { taskId, ...more })
      if (error !== undefined) return error
      return [result.configs.map(({ id }: { id: string }) => id), result.nextPageToken]
    }
    expect(await page({ pageSize: 0 })).toEqual([ids, ''])
    expect(await page({ pageSize: 3 })).toEqual([ids, ''])
    const [some, pageToken] = (await page({ pageSize: 2 })) as [string[], string]
    expect(some).toEqual(ids.slice(0, 2))
    expect(await page({ pageSize: 2, pageToken })).toEqual([ids.slice(2), ''])
    expect(await page({ pageToken: 'x' })).toMatchObject({ code: -32602 })
    expect(await page({ pageSize: -1 })).toMatchObject({ code: -32602 })
    const path = `/tasks/${taskId}/pushNotificationConfigs?pageSize=1`
    expect(JSON.parse((await ask(server, path)).text).configs).toHaveLength(1)
    await openGate(server, gate)
  })

  it('lets nobody see or set those of another’s task', async () => {
    const [ann, bob] = [as(own('ann')), as(own('bob'))]
    const { id: taskId, gate } = await waiting(server, ann)
    const { url } = at('ok')
    expect(
      (await rpc(server, 'CreateTaskPushNotificationConfig', { taskId, id: 'a', url, token: 'secret' }, ann))
        .error,
    ).toBeUndefined()
    for (const method of ['Create', 'Get', 'Delete']) {
      const { error } = await rpc(
        server,
        `${method}TaskPushNotificationConfig`,
        { taskId, id: 'a', url },
        bob,
      )
      expect(error).toMatchObject({ code: -32001 })
    }
    expect((await rpc(server, 'ListTaskPushNotificationConfigs', { taskId }, bob)).error).toMatchObject({
      code: -32001,
    })
    expect(
      (await rpc(server, 'ListTaskPushNotificationConfigs', { taskId }, ann)).result.configs,
    ).toHaveLength(1)
    await openGate(server, gate)
  })
}
