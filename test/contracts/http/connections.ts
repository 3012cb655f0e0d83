import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { expectAlive, jsonRequest, messagesOf, notesOf, run, type Server, stream } from './client.ts'
import type { Host } from './host.ts'

/** Starts a stream of an agent that waits, and leaves it after its first event. */
async function leaveStream(server: Server, path: string, id: string): Promise<void> {
  const leave = new AbortController()
  const request = { ...jsonRequest({ input: id }), signal: leave.signal }
  const response = await fetch(`${server().url}${path}`, request)
  const { value } = await messagesOf(response).next()
  expect(value?.event).toEqual({ type: 'text', text: 'waiting' })
  leave.abort()
}

const hasNote = (server: Server, note: string) =>
  eventually(async () => expect((await notesOf(server)).includes(note), note).toBe(true))

export function connectionCases(server: Server, { hearsNobodyLeave }: Host = {}): void {
  describe('silence', () => silenceCases(server))
  if (!hearsNobodyLeave) describe('a client that leaves', () => leaveCases(server))
}

function silenceCases(server: Server): void {
  it('of 20 s ends neither a stream, which tells that it lives, nor a JSON run', async () => {
    const [streamed, answered] = await Promise.all([
      stream(server, '/api/agents/silent/stream', { input: '20' }),
      run(server, '/api/agents/silent/run', { input: '20' }),
    ])
    expect(streamed.events).toEqual([
      { type: 'text', text: 'awake' },
      { type: 'finish', finishReason: 'stop' },
    ])
    expect(streamed.comments.length).toBeGreaterThanOrEqual(3)
    expect(answered.text).toBe('awake')
  }, 180_000)
}

function leaveCases(server: Server): void {
  it('stops the run of its stream', async () => {
    const id = crypto.randomUUID()
    await leaveStream(server, '/api/agents/waits/stream', id)
    await hasNote(server, `${id} stopped`)
    await expectAlive(server)
  })

  // Without writes, bare workerd notices the closed connection at its second keep-alive comment.
  it('stops the run of its stream in which nothing is said', async () => {
    const id = crypto.randomUUID()
    await leaveStream(server, '/api/agents/waits-quietly/stream', id)
    await hasNote(server, `${id} stopped`)
    await expectAlive(server)
  })

  it('stops the run of its stream alone', async () => {
    const [left, stays] = [crypto.randomUUID(), crypto.randomUUID()]
    const leave = new AbortController()
    const request = { ...jsonRequest({ input: stays }), signal: leave.signal }
    const response = await fetch(`${server().url}/api/agents/waits/stream`, request)
    await leaveStream(server, '/api/agents/waits/stream', left)
    await hasNote(server, `${left} stopped`)
    expect(await notesOf(server)).not.toContain(`${stays} stopped`)
    await response.body?.cancel()
    leave.abort()
    await hasNote(server, `${stays} stopped`)
  })

  it('stops the run of a stream of many, each its own', async () => {
    const ids = Array.from({ length: 10 }, () => crypto.randomUUID())
    await Promise.all(ids.map(id => leaveStream(server, '/api/agents/waits/stream', id)))
    for (const id of ids) await hasNote(server, `${id} stopped`)
    await expectAlive(server)
  })

  // workerd does not report a client that leaves before the head of the answer. There the time-out stops the run.
  it('stops its JSON run, or the timeout does where the runtime does not tell', async () => {
    const id = crypto.randomUUID()
    const mount = server().runtime === 'workerd' ? '/short' : '/api'
    const leave = new AbortController()
    const request = { ...jsonRequest({ input: id }), signal: leave.signal }
    const answer = fetch(`${server().url}${mount}/agents/waits/run`, request).catch(() => 'left')
    await hasNote(server, `${id} started`)
    leave.abort()
    expect(await answer).toBe('left')
    await hasNote(server, `${id} stopped`)
    await expectAlive(server)
  })
}

/** A short check of a handler without an adapter. */
export function smokeCases(server: Server): void {
  it('runs', async () => {
    expect((await run(server, '/api/agents/echo/run')).text).toBe('one two')
  })

  it('streams', async () => {
    const { events } = await stream(server, '/api/agents/echo/stream')
    expect(events.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })

  it('stops the run of a client that leaves its stream', async () => {
    const id = crypto.randomUUID()
    await leaveStream(server, '/api/agents/waits/stream', id)
    await hasNote(server, `${id} stopped`)
  })
}
