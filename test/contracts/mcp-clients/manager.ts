/** What our own manager of tool servers gets of the service. */
import { expect, it } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { createHandler, memoryState } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { own } from '../runs/client.ts'
import { type Server, TOKEN, tell } from './server.ts'

/** A manager that is connected to the service. */
async function connected(server: Server, token = TOKEN): Promise<ToolServerManager> {
  const manager = new ToolServerManager({ register: false, retryMs: 60_000 })
  const authenticate = () => ({ id: 'root' })
  createHandler({
    registry: false,
    logger: false,
    state: memoryState(),
    admin: { manager, authenticate, allow: ['127.0.0.1'] },
  })
  const headers = { authorization: `Bearer ${token}` }
  const url = `${server().url}/mcp`
  await manager.servers.add({ name: 'served', transport: 'http', url, headers })
  return manager
}

export function managerCases(server: Server): void {
  it('lists the tools of the service, and calls them', async () => {
    const manager = await connected(server)
    const tools = await manager.tools()
    expect(tools.find(({ name }) => name === 'served.says')).toMatchObject({ description: 'Says hello' })
    const call = (name: string, args: object) => manager.servers.call(`served.${name}`, args, {})
    expect(await call('says', { input: 'Ann' })).toBe('Hello, Ann!')
    expect(await call('weighs', { input: 'x' })).toEqual({ grams: 12 })
    expect(await call('multiply', { a: 6, b: 7 })).toEqual({ product: 42 })
    await expect(call('refuses', { input: 'x' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'Internal server error',
    })
    expect(await call('words', { input: 'x' })).toMatch(/Which size\?/)
    manager.close()
  })

  it('stops the agent of a call that is cancelled', async () => {
    const manager = await connected(server)
    const text = own('waits')
    const { signal, abort } = abortable()
    const call = manager.servers.call('served.waits', { input: text }, { signal }).catch(() => 'it was left')
    await eventually(async () => expect(await tell(server, text)).toBe('started'))
    abort()
    expect(await call).toBe('it was left')
    await eventually(async () => expect(await tell(server, text)).toBe('stopped'))
    manager.close()
  })

  it('is told that its token is wrong', async () => {
    const manager = await connected(server, 'wrong')
    const [served] = await manager.servers.list()
    expect(served).toMatchObject({ status: 'error', error: expect.stringMatching(/401|[Nn]ot authorized/) })
    manager.close()
  })
}

function abortable(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
