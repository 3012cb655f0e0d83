import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { askForSocket, jsonRequest } from '../http/client.ts'
import type { Host } from '../http/host.ts'
import {
  as,
  ask,
  beginStream,
  ended,
  get,
  isNoted,
  noted,
  openGate,
  own,
  post,
  type Server,
  streamRequest,
} from './client.ts'

const text = (said: RegExp) => ({ text: expect.stringMatching(said) })
const fulfilled = { status: 'completed', finishReason: 'stop', result: text(/^before [.]* ?after$/) }
const cancelled = { status: 'cancelled', finishReason: 'cancelled', result: text(/^before [.]*$/) }

/**
 * Starts a stream of an agent that waits at a gate. With a key the run is stored under every policy. Without writes, workerd
 * notices a closed connection only at a keep-alive comment.
 */
async function startStream(server: Server, name: string, headers: Record<string, string> = {}) {
  const gate = own('gate')
  const request = jsonRequest({ input: gate }, headers)
  return { gate, ...(await beginStream(server, `/api/agents/${name}/stream`, request)) }
}

/** Starts a JSON run, and gives its id and a function that leaves. */
async function startJson(server: Server, headers: Record<string, string> = {}) {
  const [gate, owner, leaving] = [own('gate'), as(own('owner')), new AbortController()]
  const request = { ...jsonRequest({ input: gate }, { ...headers, ...owner }), signal: leaving.signal }
  const answer = fetch(`${server().url}/api/agents/gated/run`, request).catch(() => 'left')
  await noted(server, `${gate} started`)
  const [found] = JSON.parse((await ask(server, '/api/runs', { headers: owner })).text).runs
  const leave = async () => {
    leaving.abort()
    expect(await answer).toBe('left')
  }
  return { gate, owner, id: found.id as string, leave }
}

const key = () => ({ 'idempotency-key': own('key') })

/** Those of clients that ask for a WebSocket where there is none. */
function upgradeCases(server: Server): void {
  it.each(['chatty', 'gated'])('stops with one who asked for a WebSocket on its stream: %s', async name => {
    const { gate, id, leave } = await startStream(server, name, key())
    const watcher = askForSocket(server, `/api/runs/${id}/stream`)
    await eventually(() => expect(watcher.text()).toContain('"before "'))
    leave()
    expect(await get(server, id)).toMatchObject({ status: 'running' })
    watcher.socket.destroy()
    await noted(server, `${gate} stopped`)
    expect(await ended(server, id)).toMatchObject(cancelled)
  })
}

/** The cases with the default of `runs.disconnect`. */
export function cancelOnLeaveCases(server: Server, { keepsUpgrades = false }: Host = {}): void {
  it.each(['chatty', 'gated'])('stops with the last one who watches its stream: %s', async name => {
    const { gate, id, leave } = await startStream(server, name, key())
    leave()
    await noted(server, `${gate} stopped`)
    expect(await ended(server, id)).toMatchObject(cancelled)
  })

  if (!keepsUpgrades) upgradeCases(server)

  it('goes on while somebody watches', async () => {
    const { gate, id, leave } = await startStream(server, 'chatty', key())
    const leaving = new AbortController()
    const response = await fetch(`${server().url}/api/runs/${id}/stream`, { signal: leaving.signal })
    const reader = response.body!.getReader()
    await reader.read()
    leave()
    const third = await streamRequest(server, id)
    await third.body?.cancel()
    expect(await get(server, id)).toMatchObject({ status: 'running' })
    expect(await isNoted(server, `${gate} stopped`)).toBe(false)
    leaving.abort()
    await noted(server, `${gate} stopped`)
    expect(await ended(server, id)).toMatchObject(cancelled)
  })

  // workerd does not report a client that leaves before the head of the answer.
  it('stops with the one who waits for its JSON, where the runtime tells that it left', async () => {
    const { gate, owner, id, leave } = await startJson(server, key())
    await leave()
    if (server().runtime === 'workerd') {
      await openGate(server, gate)
      return expect(await ended(server, id, owner)).toMatchObject(fulfilled)
    }
    await noted(server, `${gate} stopped`)
    expect(await ended(server, id, owner)).toMatchObject(cancelled)
  })
}

export function continueCases(server: Server): void {
  it('makes every run a stored one', async () => {
    for (const route of ['run', 'stream']) {
      const answer = await post(server, `/api/agents/echo/${route}`, { input: 'one' })
      const id = answer.headers.get('x-run-id') ?? ''
      expect(await get(server, id)).toMatchObject({ status: 'completed', result: { text: 'one' } })
    }
  })

  it('lets a run go on when the client of its stream leaves', async () => {
    const { gate, id, leave } = await startStream(server, 'chatty')
    leave()
    await openGate(server, gate)
    expect(await ended(server, id)).toMatchObject(fulfilled)
    expect(await isNoted(server, `${gate} stopped`)).toBe(false)
  })

  it('lets a run go on when the client of its JSON leaves', async () => {
    const { gate, owner, id, leave } = await startJson(server)
    await leave()
    await openGate(server, gate)
    expect(await ended(server, id, owner)).toMatchObject(fulfilled)
    expect(await isNoted(server, `${gate} stopped`)).toBe(false)
  })
}

export function graceCases(server: Server): void {
  it('stops a run to which nobody comes back', async () => {
    const { gate, id, leave } = await startStream(server, 'chatty')
    leave()
    await noted(server, `${gate} stopped`)
    expect(await ended(server, id)).toMatchObject(cancelled)
  })

  it('lets a run go on to which somebody comes back', async () => {
    const [left, other] = await Promise.all([startStream(server, 'chatty'), startStream(server, 'chatty')])
    left.leave()
    const back = await streamRequest(server, left.id, { 'last-event-id': '1' })
    // The end of another run, left for good, shows that the grace period is over.
    other.leave()
    await noted(server, `${other.gate} stopped`)
    expect(await isNoted(server, `${left.gate} stopped`)).toBe(false)
    await openGate(server, left.gate)
    expect(await back.text()).toContain('"text":" after"')
    expect(await ended(server, left.id)).toMatchObject(fulfilled)
  })

  it('lets a run end in the meantime', async () => {
    const { gate, id, leave } = await startStream(server, 'chatty')
    leave()
    await openGate(server, gate)
    expect(await ended(server, id)).toMatchObject(fulfilled)
  })
}
