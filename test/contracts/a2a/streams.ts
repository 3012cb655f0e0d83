import { describe, expect, it } from 'vitest'
import {
  atWork,
  callOf,
  cancel,
  expectError,
  getTask,
  hear,
  isTerminal,
  noted,
  notesOf,
  open,
  openGate,
  openSend,
  reaches,
  type SeenEvent,
  type Server,
  sendForTask,
  subscribe,
  subscribeCall,
  TONGUES,
  type Tongue,
  type Tongues,
  tongues,
} from './client.ts'

const kinds = (events: readonly SeenEvent[]) => events.map(({ kind }) => kind)
const ids = (events: readonly SeenEvent[]) => events.map(({ id }) => Number(id))

function expectOrdered(events: readonly SeenEvent[]): void {
  const numbers = ids(events)
  expect(numbers.every(Number.isInteger)).toBe(true)
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
}

/** Checks the shape of a task's stream: the task first, then updates. */
function expectShape(tongue: Tongue, events: readonly SeenEvent[], end: string): void {
  expect(events[0]?.kind).toBe('task')
  expect(new Set(kinds(events.slice(1)))).not.toContain('task')
  expect(events.at(-1)).toMatchObject({ kind: 'status', state: end })
  expectOrdered(events)
  expect(new Set(events.map(({ rpcId }) => rpcId))).toEqual(new Set([tongue.isRpc ? 7 : undefined]))
  const finals = events.filter(({ kind }) => kind === 'status').map(({ isFinal }) => isFinal)
  if (tongue.generation === '1.0') expect(new Set(finals)).toEqual(new Set([undefined]))
  else expect(finals).toEqual(finals.map((_, index) => index === finals.length - 1))
}

function textOf(events: readonly SeenEvent[]): string {
  return events.map(({ artifact }) => artifact?.text ?? '').join('')
}

export function streamCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('a stream: %s', (_, tongue) => {
    it('begins with the task, tells how it changes, and closes when it has ended', async () => {
      const events = await (await openSend(server, tongue, { agent: 'slow', text: '5' })).rest()
      expectShape(tongue, events, 'completed')
      const told = textOf(events) || events[0]?.task?.artifacts[0]?.text
      expect(`${events[0]?.task?.artifacts[0]?.text ?? ''}${textOf(events)}`).toBe('1 2 3 4 5 ')
      expect(told).toBeDefined()
    })

    it('is exactly one message where the agent answers with one', async () => {
      const events = await (await openSend(server, tongue, { agent: 'says', text: 'hi' })).rest()
      expect(events).toMatchObject([{ kind: 'message', message: { role: 'agent', text: 'you said hi' } }])
    })

    it.each([
      ['failed', 'throws-late'],
      ['rejected', 'refuses'],
      ['input-required', 'clerk'],
      ['auth-required', 'guarded'],
    ])('closes when the task is %s', async (state, agent) => {
      expectShape(tongue, await (await openSend(server, tongue, { agent })).rest(), state)
    })

    it('closes when the task is cancelled', async () => {
      const gate = crypto.randomUUID()
      const stream = await openSend(server, tongue, { agent: 'gated', text: gate })
      const first = await stream.next()
      const id = first?.task?.id ?? ''
      await noted(server, `${gate} started`)
      await cancel(server, tongue, id)
      expectShape(tongue, [first!, ...(await stream.rest())], 'canceled')
    })

    it('tells the chunks of an artifact, and which is the last', async () => {
      const gate = crypto.randomUUID()
      const events = await (await openSend(server, tongue, { agent: 'makes', text: gate })).rest()
      const [first] = events
      const before = first?.task?.artifacts.find(({ id }) => id === 'poem')?.text ?? ''
      const poem = events.flatMap(({ artifact }) => (artifact?.id === 'poem' ? [artifact] : []))
      expect(before + poem.map(({ text }) => text).join('')).toBe('one two three')
      for (const each of poem) {
        expect(each.append).toBe(each.text !== 'one ')
        expect(each.lastChunk).toBe(each.text === 'three')
      }
    })

    it('never stops a task whose client leaves', async () => {
      const gate = crypto.randomUUID()
      const stream = await openSend(server, tongue, { agent: 'chatty', text: gate })
      const first = await stream.next()
      await stream.next()
      stream.leave()
      const id = first?.task?.id ?? ''
      const follower = await subscribe(server, tongue, id)
      await follower.next()
      follower.leave()
      await openGate(server, gate)
      const task = await reaches(server, tongue, id, 'completed')
      expect(task.artifacts[0]?.text).toMatch(/^before \.* after$/)
      expect(await notesOf(server)).not.toContain(`${gate} stopped`)
    })

    it('of a subscriber begins with the task as it is, and sees the rest', async () => {
      const { id, gate } = await atWork(server, tongue)
      const stream = await subscribe(server, tongue, id)
      const first = await stream.next()
      expect(first).toMatchObject({ kind: 'task', task: { id, state: 'working' } })
      await openGate(server, gate)
      const events = [first!, ...(await stream.rest())]
      expectShape(tongue, events, 'completed')
      expect(`${first?.task?.artifacts[0]?.text ?? ''}${textOf(events)}`).toBe('before after')
    })

    it('of a subscriber stays open while the task waits for its client', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'clerk' })
      const stream = await subscribe(server, tongue, id)
      expect((await stream.next())?.task?.state).toBe('input-required')
      await sendForTask(server, tongue, { taskId: id, text: 'hm' })
      await stream.until(({ state }) => state === 'input-required')
      await sendForTask(server, tongue, { taskId: id, text: 'Oslo' })
      const rest = await stream.rest()
      expect(rest.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
      expect(textOf(rest)).toBe('sunny in Oslo')
    })

    it('of a continued task begins with what was before', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'clerk' })
      const events = await (await openSend(server, tongue, { taskId: id, text: 'Oslo' })).rest()
      expectShape(tongue, events, 'completed')
      expect(events[0]?.task?.history?.slice(0, 3).map(({ text }) => text)).toEqual([
        'hello',
        'which city?',
        'Oslo',
      ])
    })

    it('is refused where the task has ended or is not there', async () => {
      const { id } = await sendForTask(server, tongue, {})
      expectError(tongue, await hear(server, tongue, subscribeCall(tongue, id)), 'unsupportedOperation')
      const nowhere = subscribeCall(tongue, crypto.randomUUID())
      expectError(tongue, await hear(server, tongue, nowhere), 'taskNotFound')
    })

    it('that is cut after any event goes on after it, with nothing missing and nothing twice', async () => {
      const whole = await (await openSend(server, tongue, { agent: 'slow', text: '20' })).rest()
      const id = whole[0]?.task?.id ?? ''
      for (const [index, event] of whole.entries()) {
        const rest = await (await subscribe(server, tongue, id, { lastEventId: event.id })).rest()
        expect(rest.map(({ json }) => json)).toEqual(whole.slice(index + 1).map(({ json }) => json))
        expect(ids(rest)).toEqual(ids(whole.slice(index + 1)))
      }
    })

    it('that is cut after each event while the agent speaks is the whole one', async () => {
      const stream = await openSend(server, tongue, { agent: 'slow', text: '40' })
      const events: SeenEvent[] = []
      let current = stream
      for (let cuts = 0; cuts < 200; cuts++) {
        const event = await current.next()
        if (event === undefined) break
        events.push(event)
        current.leave()
        const id = events[0]?.task?.id ?? ''
        current = await subscribe(server, tongue, id, { lastEventId: event.id })
      }
      expectShape(tongue, events, 'completed')
      const { task } = events[0]!
      const text = Array.from({ length: 40 }, (_, index) => `${index + 1} `).join('')
      expect((task?.artifacts[0]?.text ?? '') + textOf(events)).toBe(text)
    })

    it('gives who claims to have seen nothing all of it, and who claims to have seen all of it nothing', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'slow', text: '5' })
      const whole = await (await subscribe(server, tongue, id, { lastEventId: '0' })).rest()
      expect(whole.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
      expect(textOf(whole)).toBe('1 2 3 4 5 ')
      const lastEventId = whole.at(-1)?.id ?? ''
      expect(await (await subscribe(server, tongue, id, { lastEventId })).rest()).toEqual([])
      for (const wrong of ['x', `${Number(lastEventId) + 1}`, '999999999999999']) {
        const answer = await hear(server, tongue, subscribeCall(tongue, id, { lastEventId: wrong }))
        expectError(tongue, answer, 'unsupportedOperation')
      }
    })

    it('is the same for everyone who follows a task', async () => {
      const gate = crypto.randomUUID()
      const sender = await openSend(server, tongue, { agent: 'chatty', text: gate })
      const first = await sender.next()
      const id = first?.task?.id ?? ''
      const joining = Array.from({ length: 8 }, () => subscribe(server, tongue, id))
      const streams = [sender, ...(await Promise.all(joining))]
      const reading = streams.map(stream => stream.rest())
      await openGate(server, gate)
      const all = (await Promise.all(reading)).map(events => events.filter(({ kind }) => kind !== 'task'))
      const [longest = []] = all
      for (const events of all) {
        expectOrdered(events)
        expect(events.length).toBeGreaterThan(0)
        const same = longest.slice(-events.length)
        expect(events.map(({ json }) => json)).toEqual(same.map(({ json }) => json))
      }
      expect(longest.filter(({ state = '' }) => isTerminal(state))).toHaveLength(1)
    })

    it('shows states in one order only', async () => {
      const { id, gate } = await atWork(server, tongue)
      const stream = await subscribe(server, tongue, id)
      await openGate(server, gate)
      const states = (await stream.rest()).flatMap(({ state }) => state ?? [])
      expect(states.filter(state => state !== 'working')).toEqual(['completed'])
      expect((await getTask(server, tongue, id)).state).toBe('completed')
    })
  })

  it.each([
    ['1.0', TONGUES.rest1],
    ['0.3', TONGUES.rest03],
  ])('is subscribed to with GET as well: %s', async (_, tongue) => {
    const { id, gate } = await atWork(server, tongue)
    const { path } = callOf(tongue, 'subscribe', { id })
    const stream = await open(server, tongue, { path, init: {} })
    expect((await stream.next())?.task?.id).toBe(id)
    await openGate(server, gate)
    expect((await stream.rest()).at(-1)?.state).toBe('completed')
  })

  it('has the id of its request in every event, whatever it is', async () => {
    for (const rpcId of ['x', '', 0, -1, '日本']) {
      const events = await (await openSend(server, TONGUES.rpc1, { rpcId, agent: 'makes' })).rest()
      expect(new Set(events.map(event => event.rpcId))).toEqual(new Set([rpcId]))
    }
  })
}
