import { describe, expect, it, vi } from 'vitest'
import { admin } from '../../../src/features/admin/plugin.ts'
import { bearerIdentity, createHandler, type Tool, type ToolContext } from '../../../src/index.ts'

const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }

function serving(...tools: Tool[]) {
  const authenticate = bearerIdentity({ tokens: { secret: 'ada' } })
  const toolkits = [{ name: 'kit', description: '', tools }]
  const logged: Record<string, unknown>[] = []
  const handler = createHandler({
    registry: false,
    logger: entry => void logged.push(entry),
    plugins: [
      admin({ authenticate, toolkits, toolLibrary: { named: { name: 'other', execute: () => 'lib' } } }),
    ],
  })
  const call = async (name: string, body: unknown, signal?: AbortSignal) => {
    const request = new Request(`http://127.0.0.1/api/admin/tools/${name}/call`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: signal ?? null,
    })
    const response = await handler(request)
    return { status: response.status, body: await response.json() }
  }
  return { call, logged }
}

describe('a tool that an administrator calls', () => {
  it('gets the arguments, and who calls, and asks nobody for an approval', async () => {
    const execute = vi.fn((args: unknown, _: ToolContext) => ({ of: args }))
    const { call, logged } = serving({ name: 'look', parameters: schema, needsApproval: true, execute })
    const { status, body } = await call('look', { args: { city: 'Oslo' } })
    expect([status, body]).toEqual([
      200,
      { result: { of: { city: 'Oslo' } }, durationMs: expect.any(Number) },
    ])
    expect(execute.mock.calls[0]![1]).toMatchObject({ identity: 'ada', toolCallId: expect.any(String) })
    expect(logged).toContainEqual(
      expect.objectContaining({
        event: 'admin.act',
        action: 'call_tool',
        name: 'look',
        outcome: 'ok',
        who: 'ada',
      }),
    )
  })

  it('is found in the library by its name there', async () => {
    expect((await serving().call('named', {})).body).toMatchObject({ result: 'lib' })
    expect((await serving().call('other', {})).status).toBe(404)
    expect((await serving().call('constructor', {})).status).toBe(404)
  })

  it('is not called with arguments that do not fit', async () => {
    const execute = vi.fn()
    const { call } = serving({ name: 'look', parameters: schema, execute })
    for (const body of [{}, { args: {} }, { args: 'Oslo' }, [], 'x', null]) {
      expect(await call('look', body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    }
    expect(execute).not.toHaveBeenCalled()
  })

  it.each([
    ['throws', () => Promise.reject(new Error('away'))],
    ['gives no JSON', () => ({ n: 1n })],
    ['gives too much', () => 'x'.repeat(2 * 1024 * 1024)],
  ])('fails where it %s', async (_, execute) => {
    const { call } = serving({ name: 'fails', execute })
    expect(await call('fails', {})).toMatchObject({ status: 502, body: { code: 'tool_failed' } })
  })

  it('is stopped when the client leaves', async () => {
    let stopped: unknown
    const leaving = new AbortController()
    const { call } = serving({
      name: 'waits',
      execute: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            stopped = signal.reason
          })
          leaving.abort(new Error('left'))
        }),
    })
    await call('waits', {}, leaving.signal)
    expect(String(stopped)).toContain('left')
  })

  it('is refused where twenty are called', async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const { call } = serving({ name: 'waits', execute: () => promise })
    const calls = Array.from({ length: 21 }, () => call('waits', {}))
    expect(await Promise.race(calls)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    resolve(1)
    expect((await Promise.all(calls)).filter(({ status }) => status === 200)).toHaveLength(20)
  })
})
