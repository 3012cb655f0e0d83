/** What was made or opened with a key, and the key is narrow, or revoked afterwards. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { IssuedKey } from '../../../src/features/keys/plugin.ts'
import { callerKeys, keysAuth } from '../../../src/features/keys/plugin.ts'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import { Agent } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { startReceiver } from '../../contracts/webhooks/receiver.ts'
import { eventually } from '../../eventually.ts'
import { authenticate, says, service } from './kit.ts'

const other = new Agent({ name: 'other', register: false, run: () => 'from the other' })
const endless = new Agent({
  name: 'endless',
  register: false,
  async *run(_, { signal }) {
    yield 'begun'
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
})

async function hooked() {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.stop())
  const keys = callerKeys({ authenticate, cacheMs: 0 })
  const { ask, issue, revoke } = service(
    {},
    {
      agents: { says, other },
      plugins: [
        keys,
        webhooks({
          clients: { maxPerOwner: 5 },
          allow: ['127.0.0.1'],
          retryMs: 10,
          maxRetryMs: 10,
          maxTries: 3,
        }),
      ],
      middleware: [keysAuth(keys)],
    },
  )
  const send = async ({ key }: IssuedKey, path: string, body: object = {}, method = 'POST') => {
    const { status, json } = await told(ask, key, path, body, method)
    return { status, json }
  }
  /** Runs as a stored run, and waits for its end. */
  const run = async (key: IssuedKey, name: string) => {
    const { json } = await send(key, `agents/${name}/run`, { input: 'x', background: true })
    return String(json.runId)
  }
  return { receiver, issue, revoke, send, run }
}

async function told(
  ask: (path: string, init?: RequestInit) => Promise<Response>,
  key: string,
  path: string,
  body: object,
  method: string,
) {
  const init: RequestInit = method === 'GET' ? {} : jsonRequest(body)
  const headers = { ...Object(init.headers), authorization: `Bearer ${key}` }
  const response = await ask(path, { ...init, method, headers })
  const text = await response.text()
  return { status: response.status, json: text === '' ? {} : JSON.parse(text) }
}

describe('a webhook', () => {
  it('of a key of one agent hears of that agent alone', async () => {
    const { receiver, issue, send, run } = await hooked()
    const all = await issue()
    const narrow = await issue({ scopes: ['agent:says'] })
    const { status, json } = await send(narrow, 'webhooks', { url: `${receiver.url}/narrow`, contents: true })
    expect(status).toBe(201)
    const wide = await send(all, 'webhooks', { url: `${receiver.url}/wide` })
    await run(all, 'other')
    await run(all, 'says')
    await eventually(() => expect(receiver.payloads('/wide', wide.json.secret)).toHaveLength(2))
    await eventually(() => expect(receiver.payloads('/narrow', json.secret)).toHaveLength(1))
    expect(receiver.requests('/narrow')[0]?.body).not.toContain('from the other')
  })

  it('ends with its key', async () => {
    const { receiver, issue, revoke, send, run } = await hooked()
    const all = await issue({ scopes: ['all'] })
    const lent = await issue()
    const { json } = await send(lent, 'webhooks', { url: `${receiver.url}/lent` })
    await run(all, 'says')
    await eventually(() => expect(receiver.payloads('/lent', json.secret)).toHaveLength(1))
    await revoke(lent)
    await run(all, 'says')
    await eventually(async () => {
      const { json: shown } = await send(all, `webhooks/${json.id}`, {}, 'GET')
      expect(shown).toMatchObject({ enabled: false })
    })
    const { json: page } = await send(all, `webhooks/${json.id}/deliveries`, {}, 'GET')
    expect(page.deliveries[0]).toMatchObject({ status: 'failed', error: 'its key is revoked or has expired' })
    expect(receiver.requests('/lent')).toHaveLength(1)
    // Whoever turns it on again, it is theirs.
    expect((await send(all, `webhooks/${json.id}`, { enabled: true }, 'PATCH')).status).toBe(200)
    await run(all, 'says')
    await eventually(() => expect(receiver.payloads('/lent', json.secret)).toHaveLength(2))
  })

  it('hears of nothing more that its key may not run any more', async () => {
    const { receiver, issue, send, run } = await hooked()
    const all = await issue()
    const narrow = await issue({ scopes: ['agent:says', 'agent:other'] })
    const { json } = await send(narrow, 'webhooks', { url: `${receiver.url}/narrowed` })
    const root = { key: 'root' } as IssuedKey
    expect((await send(root, `keys/${narrow.id}`, { scopes: ['agent:says'] }, 'PATCH')).status).toBe(200)
    await run(all, 'other')
    await run(all, 'says')
    await eventually(() => expect(receiver.payloads('/narrowed', json.secret)).toHaveLength(1))
    expect(receiver.requests('/narrowed')).toHaveLength(1)
    expect(receiver.requests('/narrowed')[0]?.body).toContain('"says"')
  })

  it('of another key gives a narrow one no secret, no test and no delivery', async () => {
    const { receiver, issue, send } = await hooked()
    const all = await issue()
    const narrow = await issue({ scopes: ['agent:says'] })
    const { json } = await send(all, 'webhooks', { url: `${receiver.url}/all` })
    for (const path of ['secret', 'test', 'deliveries/x/replay']) {
      const { status, json: refused } = await send(narrow, `webhooks/${json.id}/${path}`)
      expect([path, status, refused.code]).toEqual([path, 403, 'insufficient_scope'])
    }
    const own = await send(narrow, 'webhooks', { url: `${receiver.url}/own` })
    expect((await send(narrow, `webhooks/${own.json.id}/secret`)).status).toBe(200)
  })
})

describe('an open stream', () => {
  it.each([
    ['goes on while its key is good', false],
    ['ends with its key', true],
  ])('%s', async (_, isRevoked) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask, issue, revoke } = service({}, { agents: { endless } })
    const key = await issue()
    const response = await ask(
      'agents/endless/stream',
      jsonRequest({ input: 'x' }, { authorization: `Bearer ${key.key}`, accept: 'text/event-stream' }),
    )
    const reader = response.body!.getReader()
    await reader.read()
    if (isRevoked) await revoke(key)
    let isDone = false
    const end = (async () => {
      while (!(await reader.read()).done);
      isDone = true
    })()
    await vi.advanceTimersByTimeAsync(15_000)
    if (isRevoked) await end
    expect(isDone).toBe(isRevoked)
    await reader.cancel()
    await end
    expect(vi.getTimerCount()).toBe(0)
  })
})
