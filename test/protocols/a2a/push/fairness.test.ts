// @module-tag long
import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { platform } from '../../../../src/http/platform.ts'
import { Agent, createHandler, memoryState } from '../../../../src/index.ts'
import { jsonRequest } from '../../../contracts/http/client.ts'
import { eventually } from '../../../eventually.ts'
import { listening } from '../../../listening.ts'

/** What a receiver does with what it is told. */
type Way = 'hold' | 'take' | 'fail'

async function startReceiver(first: Way) {
  const paths: string[] = []
  const held: ServerResponse[] = []
  let way = first
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    if (way === 'hold') held.push(response)
    else response.writeHead(way === 'take' ? 204 : 500).end()
  })
  const { url, stop } = await listening(server)
  const become = (next: Way) => {
    way = next
    if (way !== 'hold') for (const response of held.splice(0)) response.writeHead(204).end()
  }
  onTestFinished(() => {
    become('take')
    return stop()
  })
  return {
    url,
    held,
    /** How often a path was asked; without one, how often all were. */
    asked: (path?: string) => paths.filter(each => path === undefined || each === path).length,
    become,
  }
}

/** A service whose clients are told of their tasks; `start` starts one that tells a receiver, and waits for its end. */
function make(push: object = {}) {
  const echo = new Agent({
    name: 'echo',
    register: false,
    async *run() {
      yield 'done'
    },
  })
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: { echo },
    state: memoryState(),
    runs: { maxRunningPerOwner: 1000 },
    a2a: { maxTasksPerOwner: 2000, push: { allow: ['127.0.0.1'], timeoutMs: 120_000, ...push } },
  })
  return async function start(ip: string | undefined, url: string): Promise<void> {
    const params = {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x' }] },
      configuration: { taskPushNotificationConfig: { url } },
    }
    const request = new Request(
      'http://127.0.0.1/',
      jsonRequest({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, { 'a2a-version': '1.0' }),
    )
    const { result } = await (await handler(request, platform({ ip }))).json()
    expect(result?.task.status.state).toBe('TASK_STATE_COMPLETED')
  }
}

type Start = ReturnType<typeof make>

async function startMany(
  start: Start,
  ip: string | undefined,
  urlOf: (index: number) => string,
  count = 400,
) {
  for (let index = 0; index < count; index++) await start(ip, urlOf(index))
}

const inTime = (check: () => void) => eventually(check, 110_000)

/** The working status, the artifact and the end. */
const NOTICES = 3

describe('a client with four hundred tasks and receivers that do not answer', () => {
  it.each([
    ['another client’s', '192.0.2.2'],
    ['its own other receiver’s', '192.0.2.1'],
  ])('is not in the way of %s notifications', async (_, ip) => {
    const [slow, quick] = [await startReceiver('hold'), await startReceiver('take')]
    const start = make()
    await startMany(start, '192.0.2.1', index => `${slow.url}/${index}`)
    await inTime(() => expect(slow.held.length).toBeGreaterThan(0))
    const many = slow.held.length
    expect(many).toBeLessThan(64)
    for (const path of ['/a', '/b', '/c']) {
      await start(ip, quick.url + path)
      await inTime(() => expect(quick.asked(path)).toBe(NOTICES))
    }
    // None of the slow ones has been answered, and no more of them are asked meanwhile than there may be.
    expect(slow.asked()).toBe(slow.held.length)
    expect(slow.held.length).toBeLessThan(64)
  })

  it('is not in the way of others who are as unknown as it is', async () => {
    const [slow, quick] = [await startReceiver('hold'), await startReceiver('take')]
    const start = make()
    await startMany(start, undefined, index => `${slow.url}/${index}`)
    await start(undefined, `${quick.url}/other`)
    await inTime(() => expect(quick.asked('/other')).toBe(NOTICES))
    expect(slow.asked()).toBe(slow.held.length)
  })

  it('is told of all of them in the end, each once', async () => {
    const slow = await startReceiver('hold')
    const start = make()
    await startMany(start, '192.0.2.1', index => `${slow.url}/${index}`, 100)
    await inTime(() => expect(slow.held.length).toBeGreaterThan(0))
    slow.become('take')
    await inTime(() => expect(slow.asked()).toBe(100 * NOTICES))
    for (let index = 0; index < 100; index++) expect(slow.asked(`/${index}`)).toBe(NOTICES)
  })
})

describe('receivers that fail', () => {
  it('have a small lane of their own, in which others’ notifications never wait', async () => {
    const [failing, quick] = [await startReceiver('fail'), await startReceiver('take')]
    const start = make({ retryMs: 1, maxRetryMs: 1, maxTries: 1_000_000 })
    await startMany(start, '192.0.2.1', index => `${failing.url}/${index}`, 100)
    await inTime(() => expect(failing.asked()).toBeGreaterThan(100))
    failing.become('hold')
    for (const path of ['/a', '/b', '/c']) {
      for (const ip of ['192.0.2.1', '192.0.2.2']) {
        await start(ip, `${quick.url}${path}/${ip}`)
        await inTime(() => expect(quick.asked(`${path}/${ip}`)).toBe(NOTICES))
      }
    }
    expect(failing.held.length).toBeLessThanOrEqual(8)
  })
})
