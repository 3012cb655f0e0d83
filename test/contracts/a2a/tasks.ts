import { describe, expect, it } from 'vitest'
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
  type Json,
  list,
  messageOf,
  noted,
  notesOf,
  openGate,
  own,
  reaches,
  type Server,
  send,
  sendCall,
  sendForTask,
  TONGUES,
  type Tongue,
  type Tongues,
  tongues,
} from './client.ts'

const nowhere = '00000000-0000-4000-8000-000000000000'
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** A task, from its first message to its end, in every tongue. */
export function taskCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('a task: %s', (_, tongue) => {
    it('answers a message with a task that has ended', async () => {
      const task = await sendForTask(server, tongue, { text: 'one two' })
      expect(task).toMatchObject({ id: expect.stringMatching(uuid), contextId: expect.stringMatching(uuid) })
      expect(task).toMatchObject({ state: 'completed', artifacts: [{ text: 'one two' }] })
      expect(task.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(task.history?.[0]).toMatchObject({ role: 'user', text: 'one two', taskId: task.id })
      expect(await getTask(server, tongue, task.id)).toEqual(task)
    })

    it('keeps the context that its client chose', async () => {
      const contextId = crypto.randomUUID()
      expect(await sendForTask(server, tongue, { contextId })).toMatchObject({ contextId })
    })

    it('is not found under an id that nobody has given', async () => {
      for (const heard of [
        await get(server, tongue, nowhere),
        await cancel(server, tongue, nowhere),
        await send(server, tongue, { taskId: nowhere }),
        await hear(server, tongue, sendCall(tongue, { taskId: nowhere }, 'stream')),
      ]) {
        expectError(tongue, heard, 'taskNotFound')
      }
    })

    it('takes no message once it has ended', async () => {
      const ended = [
        await sendForTask(server, tongue, {}),
        await sendForTask(server, tongue, { agent: 'refuses' }),
        await sendForTask(server, tongue, { agent: 'throws-late' }),
      ]
      expect(ended.map(({ state }) => state)).toEqual(['completed', 'rejected', 'failed'])
      for (const { id: taskId } of ended) {
        for (const operation of ['send', 'stream'] as const) {
          const heard = await hear(server, tongue, sendCall(tongue, { taskId }, operation))
          expectError(tongue, heard, 'unsupportedOperation')
        }
      }
    })

    it('goes on when its client answers, with all that was said', async () => {
      const first = await sendForTask(server, tongue, { agent: 'clerk', text: 'weather?' })
      expect(first).toMatchObject({ state: 'input-required', says: { role: 'agent', text: 'which city?' } })
      const second = await sendForTask(server, tongue, { taskId: first.id, text: 'a city' })
      expect(second).toMatchObject({ id: first.id, contextId: first.contextId, state: 'input-required' })
      const { id: taskId, contextId } = second
      const third = await sendForTask(server, tongue, { taskId, contextId, text: 'Oslo' })
      expect(third.state).toBe('completed')
      expect(third.artifacts.map(({ text }) => text)).toContain('sunny in Oslo')
      expect(third.history?.map(({ role, text }) => `${role}: ${text}`)).toEqual([
        'user: weather?',
        'agent: which city?',
        'user: a city',
        'agent: which city?',
        'user: Oslo',
      ])
      expect(new Set(third.history?.map(({ messageId }) => messageId)).size).toBe(5)
      expect(new Set(third.artifacts.map(({ id }) => id)).size).toBe(third.artifacts.length)
      await noted(server, JSON.stringify({ clerk: contextId, taskId, contextId }))
    })

    it('takes a message that comes twice as one, at work, while it waits, and once it has ended', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'clerk' })
      const call = sendCall(tongue, { taskId: id, text: 'which one' })
      const first = await hear(server, tongue, call)
      const turns = first.task?.history?.length
      for (const heard of await Promise.all([hear(server, tongue, call), hear(server, tongue, call)])) {
        expect(heard.task, heard.text).toMatchObject({ id, state: 'input-required' })
        expect(heard.task?.history).toHaveLength(turns ?? 0)
      }
      const last = sendCall(tongue, { taskId: id, text: 'Oslo' })
      const ends = await Promise.all(Array.from({ length: 4 }, () => hear(server, tongue, last)))
      for (const heard of [...ends, await hear(server, tongue, last)]) {
        expect(heard.task, heard.text).toMatchObject({ id, state: 'completed' })
        expect(heard.task?.artifacts.at(-1)?.text).toBe('sunny in Oslo')
      }
      const said = (await getTask(server, tongue, id)).history?.filter(({ role }) => role === 'user')
      expect(said?.map(({ text }) => text)).toEqual(['hello', 'which one', 'Oslo'])
    })

    it('takes another message under an id that was used before', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'clerk' })
      const say = (text: string) => {
        const message = messageOf(tongue.dialect, {
          messageId: 'm',
          taskId: id,
          [tongue.dialect.parts]: [tongue.dialect.text(text)],
        })
        return hear(server, tongue, callOf(tongue, 'send', { message }))
      }
      expect((await say('which one')).task?.state).toBe('input-required')
      expect((await say('Oslo')).task?.state).toBe('completed')
    })

    it('goes on when its client has signed in', async () => {
      const first = await sendForTask(server, tongue, { agent: 'guarded' })
      expect(first).toMatchObject({ state: 'auth-required', says: { text: 'sign in' } })
      const second = await sendForTask(server, tongue, { taskId: first.id, text: 'signed in' })
      expect(second.state).toBe('completed')
    })

    it('refuses a message of another context, and is as it was', async () => {
      const task = await sendForTask(server, tongue, { agent: 'clerk' })
      const heard = await send(server, tongue, { taskId: task.id, contextId: crypto.randomUUID() })
      expectError(tongue, heard, 'invalidParams')
      expect(await getTask(server, tongue, task.id)).toEqual(task)
    })

    it('is answered at once when its client does not wait', async () => {
      const { id, gate } = await atWork(server, tongue)
      expect((await getTask(server, tongue, id)).state).toBe('working')
      const refused = await send(server, tongue, { taskId: id })
      expectError(tongue, refused, 'unsupportedOperation')
      await openGate(server, gate)
      expect(await reaches(server, tongue, id, 'completed')).toMatchObject({
        artifacts: [{ text: 'before after' }],
      })
    })

    it('stops its agent when it is cancelled, and stays so', async () => {
      const { id, gate } = await atWork(server, tongue)
      const { task } = await cancel(server, tongue, id)
      expect(task).toMatchObject({ id, state: 'canceled', artifacts: [{ text: 'before ' }] })
      await noted(server, `${gate} stopped`)
      await openGate(server, gate)
      const again = await cancel(server, tongue, id)
      if (tongue.generation === '1.0') expect(again.task).toEqual(task)
      else expectError(tongue, again, 'taskNotCancelable')
      expectError(tongue, await send(server, tongue, { taskId: id }), 'unsupportedOperation')
      expect(await getTask(server, tongue, id)).toEqual(task)
    })

    it('can be cancelled while it waits for its client', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'clerk' })
      const { task } = await cancel(server, tongue, id)
      expect(task?.state).toBe('canceled')
    })

    it('cannot be cancelled once it has ended otherwise', async () => {
      for (const agent of ['echo', 'refuses', 'throws-late']) {
        const task = await sendForTask(server, tongue, { agent })
        expectError(tongue, await cancel(server, tongue, task.id), 'taskNotCancelable')
        expect(await getTask(server, tongue, task.id)).toEqual(task)
      }
    })

    it('shows so many of its last messages as are asked for', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'clerk', text: 'one' })
      await sendForTask(server, tongue, { taskId: id, text: 'two' })
      const texts = async (historyLength?: unknown) =>
        (await getTask(server, tongue, id, { historyLength })).history?.map(({ text }) => text)
      const all = ['one', 'which city?', 'two', 'which city?']
      expect(await texts()).toEqual(all)
      expect(await texts(1)).toEqual(all.slice(-1))
      expect(await texts(3)).toEqual(all.slice(-3))
      expect(await texts(100)).toEqual(all)
      const isProto03 = tongue.generation === '0.3' && !tongue.isRpc
      expect(await texts(0)).toEqual(isProto03 ? all : undefined)
      for (const wrong of [-1, 1.5, 'x']) {
        expectError(tongue, await get(server, tongue, id, { historyLength: wrong }), 'invalidParams')
      }
      const sent = await sendForTask(server, tongue, { taskId: id, text: 'three', historyLength: 1 })
      expect(sent.history?.map(({ text }) => text)).toEqual(['which city?'])
      const refused = await send(server, tongue, { taskId: id, historyLength: -1 })
      expectError(tongue, refused, 'invalidParams')
    })

    it('is a bare message where the agent answers with one', async () => {
      const contextId = crypto.randomUUID()
      const { message, task, error } = await send(server, tongue, { agent: 'says', text: 'hi', contextId })
      expect([task, error]).toEqual([undefined, undefined])
      expect(message).toMatchObject({ role: 'agent', text: 'you said hi', contextId })
      expect(message?.messageId).toMatch(uuid)
      expect(message?.parts).toHaveLength(3)
    })

    it('joins the chunks of an artifact, and tells of files and data', async () => {
      const task = await sendForTask(server, tongue, { agent: 'makes' })
      const { dialect } = tongue
      const of = (id: string) => task.artifacts.find(each => each.id === id)
      expect(of('poem')?.parts).toEqual([dialect.text('one two three')])
      expect(of('facts')?.parts).toEqual([dialect.data({ deep: [null, 1.5, '日本'] })])
      expect(JSON.stringify(of('picture')?.parts)).toContain('AAEC')
      expect(JSON.stringify(task.artifacts)).toContain('"city":"Oslo"')
    })

    it('takes text, files and data, and gives them back', async () => {
      const { text, raw, url, data } = tongue.dialect
      const given = [text('see'), raw('AAEC'), url('https://example.com/a.png'), data({ a: [1, null] })]
      const { artifacts, history } = await sendForTask(server, tongue, { agent: 'mirror', parts: given })
      expect(history?.[0]?.parts).toEqual(given)
      const [first, second, third, fourth] = artifacts[0]?.parts ?? []
      expect([first, fourth]).toEqual([given[0], given[3]])
      expect(second).toMatchObject(given[1]!)
      expect(third).toMatchObject(given[2]!)
    })

    it('keeps what its client said word for word', async () => {
      const said = messageOf(tongue.dialect, {
        messageId: crypto.randomUUID(),
        metadata: { agentName: 'echo', deep: { a: [1, null, '日本'] } },
        extensions: ['https://example.com/ext'],
        ...(tongue.name !== TONGUES.rest03.name && { referenceTaskIds: ['t-1'] }),
      })
      const { task } = await hear(server, tongue, callOf(tongue, 'send', { message: said }))
      const [first] = (task?.json.history ?? []) as Json[]
      expect(first).toMatchObject(said)
    })

    it('goes on when the client that waits for it leaves', async () => {
      const headers = as(own('owner'))
      const gate = own('gate')
      const leaving = new AbortController()
      const { path, init } = sendCall(tongue, { agent: 'gated', text: gate, headers })
      const waiting = fetch(`${server().url}${path}`, { ...init, signal: leaving.signal })
      await noted(server, `${gate} started`)
      leaving.abort()
      await expect(waiting).rejects.toThrow()
      await openGate(server, gate)
      await eventually(async () => {
        const { tasks } = await list(server, TONGUES.rest1, { includeArtifacts: true }, { headers })
        expect(tasks).toMatchObject([{ state: 'completed', artifacts: [{ text: 'before after' }] }])
      })
      expect(await notesOf(server)).not.toContain(`${gate} stopped`)
    })

    it('is cancelled even if its agent does not listen', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'never-ends', wait: false })
      const { task } = await cancel(server, tongue, id)
      expect(task?.state).toBe('canceled')
      expect(await getTask(server, tongue, id)).toEqual(task)
    })

    it('has one agent at work when two messages come at once', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'alone' })
      for (let round = 0; round < 5; round++) {
        const heard = await Promise.all([1, 2, 3].map(() => send(server, tongue, { taskId: id })))
        const refused = heard.filter(({ error }) => error !== undefined)
        expect(heard.length - refused.length).toBeGreaterThan(0)
        for (const each of refused) expectError(tongue, each, 'unsupportedOperation')
      }
      const notes = (await notesOf(server)).filter(note => note.startsWith(id))
      expect(notes.length).toBeGreaterThan(5)
      expect(new Set(notes)).toEqual(new Set([`${id} at work 1`]))
    })
  })

  it('is one task for all generations', async () => {
    const [first, ...others] = tongues.map(([, tongue]) => tongue) as [Tongue, ...Tongue[]]
    const { id, contextId } = await sendForTask(server, first, { agent: 'clerk' })
    for (const tongue of others) {
      const task = await sendForTask(server, tongue, { taskId: id, text: 'hm' })
      expect(task).toMatchObject({ id, contextId, state: 'input-required' })
    }
    const seen = await Promise.all([first, ...others].map(tongue => getTask(server, tongue, id)))
    expect(new Set(seen.map(({ history }) => history?.length))).toEqual(new Set([8]))
  })
}
