import { describe, expect, it } from 'vitest'
import { platform } from '../../../src/http/platform.ts'
import { Agent, createHandler, type HandlerOptions, memoryState } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'

/** A service whose agent waits until it is let go, then asks its client for more; two tasks of a client may be at work. */
function make(more: HandlerOptions = {}) {
  let letGo = Promise.withResolvers<void>()
  const state = memoryState()
  const asking = new Agent({
    name: 'asking',
    register: false,
    async *run() {
      yield 'wait'
      await letGo.promise
      return { finishReason: 'input_required' as const }
    },
  })
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: { asking },
    a2a: true,
    state,
    runs: { maxRunningPerOwner: 2 },
    ...more,
  })
  const send = async (ip: string | undefined, taskId?: string) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x' }], taskId }
    const params = { message, configuration: { returnImmediately: true } }
    const request = new Request(
      'http://127.0.0.1/',
      jsonRequest({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, { 'a2a-version': '1.0' }),
    )
    const { result, error } = await (await handler(request, platform({ ip }))).json()
    return (result?.task.id ?? error.message) as string
  }
  return {
    state,
    send,
    release() {
      letGo.resolve()
      letGo = Promise.withResolvers()
    },
  }
}

const REFUSED = /^Too many runs/
const ID = /^[0-9a-f-]{36}$/

describe('tasks at work of clients without an identity', () => {
  it('are counted by address: one that has all it may have is in nobody’s way', async () => {
    const { send } = make()
    for (let task = 0; task < 2; task++) expect(await send('2001:db8::1')).toMatch(ID)
    expect(await send('2001:db8::2')).toMatch(REFUSED)
    expect(await send('2001:db8:0:1::1')).toMatch(ID)
  })

  it('are counted together where no address is known', async () => {
    const { send } = make()
    for (let task = 0; task < 2; task++) expect(await send(undefined)).toMatch(ID)
    expect(await send(undefined)).toMatch(REFUSED)
    expect(await send('192.0.2.1')).toMatch(ID)
  })

  it('count where they go on, too', async () => {
    const { send, release } = make()
    const waiting = [await send('192.0.2.1'), await send('192.0.2.1')]
    release()
    await eventually(async () => expect(await send('192.0.2.1', waiting[0])).toBe(waiting[0]))
    await eventually(async () => expect(await send('192.0.2.1')).toMatch(ID))
    expect(await send('192.0.2.1', waiting[1])).toMatch(REFUSED)
    release()
    await eventually(async () => expect(await send('192.0.2.1', waiting[1])).toBe(waiting[1]))
  })

  it('keep nobody out while they wait for clients that never come back', async () => {
    const { send, release } = make({ a2a: { maxTasksPerOwner: 2 } })
    const waiting = [await send('192.0.2.1'), await send('192.0.2.1')]
    release()
    await eventually(async () => expect(await send('192.0.2.2')).toMatch(ID))
    const again = [await send('192.0.2.1', waiting[0]), await send('192.0.2.1', waiting[1])]
    expect(again.filter(answer => answer === 'Task not found')).toHaveLength(1)
    // Those at work stay.
    expect(await send('192.0.2.3')).toMatch(/^2 tasks are already open/)
    release()
  })

  it('leave no address in the store', async () => {
    const { send, state } = make()
    await send('192.0.2.77')
    const kept = await state.store.read(tx =>
      ['task', 'task-at-work'].flatMap(collection => tx.oldest(collection, 10)),
    )
    expect(kept).toHaveLength(2)
    expect(JSON.stringify(kept)).not.toContain('192.0.2.77')
  })
})
