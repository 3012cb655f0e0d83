import { describe, expect, it } from 'vitest'
import { errorOf, openPacket, openPolling, openWire, type Server, wire } from './client.ts'
import { MAX_PAYLOAD } from './service.ts'

const VALUES = { pingInterval: 25_000, pingTimeout: 20_000, maxPayload: MAX_PAYLOAD }

/** The beginning of a session, and refusals (Engine.IO, "Handshake", "Query parameters"). */
export function handshakeCases(server: Server): void {
  const ask = async (query: string, init?: RequestInit) =>
    errorOf(await fetch(`${server().url}${query}`, init))

  describe('a session', () => {
    it('opens on polling with the values that clients need, and offers WebSocket', async () => {
      const { sid, ...values } = await openPolling(server, 'engine.io')
      expect(values).toMatchObject({ ...VALUES, upgrades: ['websocket'] })
      expect(sid).toMatch(/^[\w-]{20,}$/)
    })

    it('opens with exactly five values', async () => {
      const response = await fetch(`${server().url}/engine.io/?EIO=4&transport=polling`)
      expect(response.headers.get('content-type')).toMatch(/^text\/plain; ?charset=utf-8$/i)
      const opened = openPacket(await response.text())
      expect(Object.keys(opened)).toEqual(['sid', 'upgrades', 'pingInterval', 'pingTimeout', 'maxPayload'])
    })

    it('opens on WebSocket, where there is nothing to upgrade to', async () => {
      const opened = await openWire(server, 'engine.io')
      expect(opened).toMatchObject({ ...VALUES, upgrades: [] })
      opened.close()
    })

    it('has an id of its own', async () => {
      const [one, other] = await Promise.all([
        openPolling(server, 'engine.io'),
        openPolling(server, 'engine.io'),
      ])
      expect(one.sid).not.toBe(other.sid)
    })

    it('opens without the slash at the end of the path', async () => {
      const response = await fetch(`${server().url}/engine.io?EIO=4&transport=polling`)
      expect(response.status).toBe(200)
    })
  })

  describe('a request is refused with', () => {
    it('0 for a transport that is not known', async () => {
      expect(await ask('/engine.io/?EIO=4')).toEqual([400, 0])
      expect(await ask('/engine.io/?EIO=4&transport=abc')).toEqual([400, 0])
    })

    it('1 for a session that is not known', async () => {
      expect(await ask('/engine.io/?EIO=4&transport=polling&sid=unknown')).toEqual([400, 1])
      const init = { method: 'POST', body: '4x' }
      expect(await ask('/engine.io/?EIO=4&transport=polling&sid=unknown', init)).toEqual([400, 1])
    })

    it.each(['POST', 'PUT', 'DELETE'])('2 for a handshake by %s', async method => {
      expect(await ask('/engine.io/?EIO=4&transport=polling', { method })).toEqual([400, 2])
    })

    it('3 for a WebSocket that does not ask to be one', async () => {
      expect(await ask('/engine.io/?EIO=4&transport=websocket')).toEqual([400, 3])
    })

    it('3 for a method that polling does not have', async () => {
      const { url } = await openPolling(server, 'engine.io')
      expect(await errorOf(await fetch(url, { method: 'PUT', body: '4x' }))).toEqual([400, 3])
    })

    it('4 and 403 for what the server does not allow', async () => {
      expect(await ask('/engine.io/?EIO=4&transport=polling&forbidden')).toEqual([403, 4])
    })

    it('5 for another version of the protocol', async () => {
      expect(await ask('/engine.io/?transport=polling')).toEqual([400, 5])
      expect(await ask('/engine.io/?EIO=3&transport=polling')).toEqual([400, 5])
      expect(await ask('/engine.io/?EIO=abc&transport=polling')).toEqual([400, 5])
    })
  })

  it.each([
    ['without a version', '?transport=websocket', 400],
    ['with another version', '?EIO=abc&transport=websocket', 400],
    ['without a transport', '?EIO=4', 400],
    ['with a transport that is not known', '?EIO=4&transport=abc', 400],
    ['of a session that is not known', '?EIO=4&transport=websocket&sid=unknown', 400],
    ['that is not allowed', '?EIO=4&transport=websocket&forbidden', 403],
  ])('a WebSocket %s is refused', async (_, query, status) => {
    await expect(wire(server, `/engine.io/${query}`)).rejects.toThrow(`status ${status}`)
  })

  it('a WebSocket that nobody serves is refused like any other request', async () => {
    await expect(wire(server, '/nowhere')).rejects.toThrow('status 404')
  })

  describe('where the runtime offers no upgrade', () => {
    it('polling is all that is offered', async () => {
      expect((await openPolling(server, 'bare/engine.io')).upgrades).toEqual([])
    })

    it('WebSocket is a transport that is not known', async () => {
      expect(await ask('/bare/engine.io/?EIO=4&transport=websocket')).toEqual([400, 0])
      await expect(wire(server, '/bare/engine.io/?EIO=4&transport=websocket')).rejects.toThrow('status 400')
    })
  })
}
