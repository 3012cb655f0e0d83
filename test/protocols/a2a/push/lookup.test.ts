/** What becomes of a receiver whose name is looked up. */
import process from 'node:process'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createHandler, type LogEntry } from '../../../../src/index.ts'

type Lookup = (host: string) => Promise<{ address: string }[]>

const PUBLIC: Lookup = async () => [{ address: '93.184.216.34' }]
const PRIVATE: Lookup = async () => [{ address: '10.0.0.1' }]
const NOTHING: Lookup = async () => []
const FAILING: Lookup = () => Promise.reject(new Error('getaddrinfo EAI_AGAIN hooks.example.com'))

afterEach(() => vi.restoreAllMocks())

/** A service whose names are looked up so, one way after another and the last one for good; and who was told. */
function make(...ways: Lookup[]) {
  const lookup = vi.fn<Lookup>(host => (ways.length > 1 ? ways.shift()! : ways[0]!)(host))
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue({ lookup } as never)
  const told = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => new Response(null, { status: 204 }))
  const entries: LogEntry[] = []
  const handler = createHandler({
    registry: false,
    agents: { echo: { run: async () => ({ text: 'x' }) as never } },
    middleware: [
      (request, context, next) => {
        const id = request.headers.get('x-who')
        if (id !== null) context.identity = { id }
        return next()
      },
    ],
    admin: { authenticate: () => ({ id: 'root' }) },
    a2a: { push: { retryMs: 1, maxRetryMs: 5, maxTries: 1000, timeoutMs: 100 } },
    logger: entry => void entries.push(entry),
  })
  const send = async (who?: string) => {
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const configuration = { taskPushNotificationConfig: { url: 'https://hooks.example.com/' } }
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', ...(who && { 'x-who': who }) }
    const answer = await handler(
      new Request('http://127.0.0.1/', { method: 'POST', headers, body: JSON.stringify(body) }),
    )
    return answer.json()
  }
  const givenUp = () => entries.filter(({ event }) => event === 'push.given_up')
  const find = async (ref: unknown) =>
    (await handler(new Request(`http://127.0.0.1/api/admin/runs/${ref}`))).json()
  return { send, lookup, told, givenUp, find }
}

describe('a receiver', () => {
  it.each([
    ['fails', FAILING],
    ['gives nothing', NOTHING],
  ])('is refused where looking its name up %s', async (_, way) => {
    const { send, told } = make(way)
    const { error } = await send()
    expect(error.message).toMatch(/`hooks\.example\.com` cannot be looked up/)
    expect(told).not.toHaveBeenCalled()
  })

  it('is told once its name is found again', async () => {
    const { send, lookup, told, givenUp } = make(PUBLIC, FAILING, NOTHING, FAILING, PUBLIC)
    expect(await send()).toHaveProperty('result')
    await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 30_000 })
    expect(lookup.mock.calls.length).toBeGreaterThanOrEqual(5)
    expect(givenUp()).toEqual([])
  })

  it('is given up where its name leads into the own network', async () => {
    const { send, told, givenUp } = make(PUBLIC, PRIVATE)
    expect(await send()).toHaveProperty('result')
    await vi.waitFor(() => expect(givenUp()).toHaveLength(1), { timeout: 30_000 })
    expect(told).not.toHaveBeenCalled()
  })

  it.each([[undefined], ['ada']])(
    'that is given up is logged with what an administrator finds its task by: of %s',
    async who => {
      const { send, givenUp, find } = make(PUBLIC, PRIVATE)
      const { result } = await send(who)
      await vi.waitFor(() => expect(givenUp()).toHaveLength(1), { timeout: 30_000 })
      const { taskId } = givenUp()[0]!
      expect(taskId).toBe(who === undefined ? result.task.id.slice(0, 8) : result.task.id)
      expect(await find(taskId)).toMatchObject({ tasks: [{ id: result.task.id, owner: who ?? null }] })
    },
  )
})
