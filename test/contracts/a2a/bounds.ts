import { describe, expect, it } from 'vitest'
import { expectNothingInternal } from '../http/client.ts'
import {
  as,
  atWork,
  callOf,
  cancel,
  eventually,
  expectError,
  get,
  getTask,
  hear,
  list,
  open,
  openGate,
  openSend,
  own,
  reaches,
  type Server,
  send,
  sendCall,
  sendForTask,
  subscribe,
  subscribeCall,
  TONGUES,
  type Tongue,
  type Tongues,
  tongues,
} from './client.ts'
import { BOUNDS } from './service.ts'

/** Checks refusals for which A2A has no code. */
function expectTooMany(tongue: Tongue, heard: Awaited<ReturnType<typeof send>>): void {
  expect(heard.error, heard.text).toBeDefined()
  if (tongue.isRpc) expect([heard.status, heard.error?.code]).toEqual([200, -32000])
  else expect(heard.status).toBe(429)
}

/** The cases that concern only the handler. */
export function requestBoundCases(server: Server): void {
  describe.each(tongues)('with narrow bounds: %s', (_, tongue) => {
    const base = '/bounds'

    it('refuses a body that is too large, and takes another', async () => {
      const heard = await send(server, tongue, { base, text: 'x'.repeat(BOUNDS.maxBodyBytes) })
      if (tongue.isRpc) expect([heard.status, heard.error?.code]).toEqual([200, -32600])
      else expect(heard.status).toBe(413)
      expect((await sendForTask(server, tongue, { base, text: 'x'.repeat(500) })).state).toBe('completed')
    })

    it('refuses a message of more than 100 parts', async () => {
      const parts = Array.from({ length: 100 }, () => tongue.dialect.text('x'))
      expect((await sendForTask(server, tongue, { base, parts })).state).toBe('completed')
      const heard = await send(server, tongue, { base, parts: [...parts, parts[0]!] })
      expectError(tongue, heard, 'invalidParams')
    })
  })

  it.each(tongues)('refuses JSON that is nested too deep, and keeps nothing of it: %s', async (_, tongue) => {
    const contextId = own('context')
    const { path, init } = sendCall(tongue, { contextId, metadata: { deep: 'DEEP' } })
    const deep = (depth: number) => ({
      path,
      init: { ...init, body: String(init.body).replace('"DEEP"', '['.repeat(depth) + ']'.repeat(depth)) },
    })
    expectError(tongue, await hear(server, tongue, deep(6000)), 'parseError')
    const { tasks } = await list(server, TONGUES.rpc1, { contextId })
    expect(tasks).toEqual([])
    expect((await hear(server, tongue, deep(100))).error).toBeUndefined()
  })

  it.each(tongues)('refuses a context or an id of megabytes, or takes it: %s', async (_, tongue) => {
    const long = 'x'.repeat(3_000_000)
    const heard = await send(server, tongue, { contextId: long })
    if (heard.error !== undefined) expectError(tongue, heard, 'invalidParams')
    const missing = await send(server, tongue, { taskId: long })
    expect([400, 404, 200]).toContain(missing.status)
    expect([-32001, -32602, 400, 404]).toContain(missing.error?.code)
  })

  it('takes a message of several megabytes, and gives it back', async () => {
    const text = 'größer, 日本, 😀 '.repeat(150_000)
    const { id, artifacts } = await sendForTask(server, TONGUES.rpc1, { agent: 'mirror', text })
    expect(artifacts[0]?.text === text).toBe(true)
    const { history } = await getTask(server, TONGUES.rest1, id)
    expect(history?.[0]?.text === text).toBe(true)
  })
}

/** These cases run one after another, since they share the limits of one server. */
export function boundCases(server: Server, spoken: Tongues = tongues): void {
  it.each(spoken)('refuses a message to a task whose history is full: %s', async (_, tongue) => {
    const headers = as(own('owner'))
    const { id } = await sendForTask(server, tongue, { headers, agent: 'clerk' })
    const second = await sendForTask(server, tongue, { headers, taskId: id })
    expect(second.history).toHaveLength(4)
    const refused = await send(server, tongue, { headers, taskId: id, text: 'Oslo' })
    expectError(tongue, refused, 'unsupportedOperation')
    expect(await getTask(server, tongue, id, { headers })).toEqual(second)
  })

  it.each(spoken)('refuses an owner one open task too many, and nobody else: %s', async (_, tongue) => {
    const headers = as(own('owner'))
    for (let count = 0; count < 3; count++) await sendForTask(server, tongue, { headers, agent: 'clerk' })
    await eventually(async () => expectTooMany(tongue, await send(server, tongue, { headers })))
    expect((await sendForTask(server, tongue, { headers: as(own('other')) })).state).toBe('completed')
  })

  it.each([
    ['an owner', true],
    ['a client without an identity', false],
  ])('refuses %s one task at work too many, until one has ended', async (_, isOwner) => {
    const tongue = TONGUES.rpc1
    const headers = isOwner ? as(own('owner')) : {}
    // A task that ended a moment ago may still be counted.
    const begin = async () => {
      const begun: Awaited<ReturnType<typeof atWork>>[] = []
      await eventually(async () => void begun.push(await atWork(server, tongue, { headers })))
      return begun[0]!
    }
    const [first, second] = [await begin(), await begin()]
    expectTooMany(tongue, await send(server, tongue, { headers }))
    // A refused message frees no place.
    expect((await send(server, tongue, { headers, taskId: first.id })).error).toBeDefined()
    expectTooMany(tongue, await send(server, tongue, { headers }))
    expect((await sendForTask(server, tongue, { headers: as(own('other')) })).state).toBe('completed')
    for (const { gate } of [first, second]) await openGate(server, gate)
    await eventually(async () => {
      expect((await send(server, tongue, { headers })).error).toBeUndefined()
    })
  })

  it("lets a full owner's oldest ended task leave the list", async () => {
    const headers = as(own('owner'))
    const sent: string[] = []
    for (let count = 0; count < 5; count++)
      sent.push((await sendForTask(server, TONGUES.rpc1, { headers })).id)
    await eventually(async () => {
      const { tasks } = await list(server, TONGUES.rpc1, {}, { headers })
      expect(tasks.length).toBeLessThanOrEqual(4)
      expect(tasks.map(({ id }) => id)).toContain(sent.at(-1))
      expect(tasks.map(({ id }) => id)).not.toContain(sent[0])
    })
  })

  it.each(spoken)(
    'refuses one subscriber too many, and takes another once one has left: %s',
    async (_, tongue) => {
      const headers = as(own('owner'))
      const { id, gate } = await atWork(server, tongue, { headers, agent: 'chatty' })
      const first = await subscribe(server, tongue, id, { headers })
      const second = await subscribe(server, tongue, id, { headers })
      await Promise.all([first.next(), second.next()])
      expectTooMany(tongue, await hear(server, tongue, subscribeCall(tongue, id, { headers })))
      first.leave()
      let third: typeof first | undefined
      await eventually(async () => {
        third = await open(server, tongue, subscribeCall(tongue, id, { headers }))
        expect((await third.next())?.kind).toBe('task')
      })
      await openGate(server, gate)
      for (const stream of [second, third!]) {
        expect((await stream.rest()).at(-1)).toMatchObject({ state: 'completed' })
      }
      expect((await reaches(server, tongue, id, 'completed', { headers })).id).toBe(id)
    },
  )

  it('counts no HEAD as a subscriber', async () => {
    const headers = as(own('owner'))
    const { id, gate } = await atWork(server, TONGUES.rest1, { headers, agent: 'chatty' })
    for (let round = 0; round < 5; round++) {
      const response = await fetch(`${server().url}/tasks/${id}:subscribe`, { method: 'HEAD', headers })
      expect(response.status).toBe(200)
    }
    const stream = await subscribe(server, TONGUES.rest1, id, { headers })
    await openGate(server, gate)
    expect((await stream.rest()).at(-1)).toMatchObject({ state: 'completed' })
  })

  it('counts bare messages among no tasks', async () => {
    const headers = as(own('owner'))
    for (let count = 0; count < 6; count++) {
      await eventually(async () => {
        const { message, text } = await send(server, TONGUES.rpc1, { headers, agent: 'says' })
        expect(message, text).toBeDefined()
      })
    }
  })
}

/** The cases with a short time-out for runs. */
export function timeoutCases(server: Server, spoken: Tongues = tongues): void {
  it.each(spoken)('fails a task that takes too long, and keeps what it made: %s', async (_, tongue) => {
    const task = await sendForTask(server, tongue, { agent: 'never-ends' })
    expect(task).toMatchObject({ state: 'failed', artifacts: [{ text: 'before ' }] })
    expectError(tongue, await cancel(server, tongue, task.id), 'taskNotCancelable')
    expectError(tongue, await send(server, tongue, { taskId: task.id }), 'unsupportedOperation')
    const events = await (await openSend(server, tongue, { agent: 'never-ends' })).rest()
    expect(events.at(-1)).toMatchObject({ kind: 'status', state: 'failed' })
  })
}

export function failureCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('an agent that fails: %s', (_, tongue) => {
    it.each(['throws-early', 'throws-late'])('makes a failed task whose text is masked: %s', async agent => {
      const task = await sendForTask(server, tongue, { agent })
      expect(task.state).toBe('failed')
      expect(task.says?.text).toBe('Internal server error')
      const events = await (await openSend(server, tongue, { agent })).rest()
      expect(events.at(-1)).toMatchObject({ kind: 'status', state: 'failed' })
      const told = JSON.stringify(events).replaceAll(/T\d\d:\d\d:\d\d\.\d+Z/g, '')
      expect(told).not.toContain('vault')
      expectNothingInternal(
        (await get(server, tongue, task.id)).text.replaceAll(/T\d\d:\d\d:\d\d\.\d+Z/g, ''),
      )
    })
  })

  it('serves on', async () => {
    const heard = await hear(server, TONGUES.rest1, callOf(TONGUES.rest1, 'get', { id: '%00' }))
    expectError(TONGUES.rest1, heard, 'taskNotFound')
    expect((await sendForTask(server, TONGUES.rpc1, {})).state).toBe('completed')
  })
}
