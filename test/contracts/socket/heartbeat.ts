import { expect, it } from 'vitest'
import { expectGone, openPolling, openWire, type Server } from './client.ts'
import { BEAT } from './service.ts'

/** Pings of the server, pongs of the client (Engine.IO, "Heartbeat"). */
export function heartbeatCases(server: Server): void {
  it('says how it beats', async () => {
    expect(await openPolling(server, 'beat')).toMatchObject(BEAT)
  })

  it('goes on over polling', async () => {
    const session = await openPolling(server, 'beat')
    for (let beats = 0; beats < 3; beats++) {
      expect(await session.read()).toBe('2')
      expect((await session.post('3')).status).toBe(200)
    }
  })

  it('goes on over WebSocket', async () => {
    const client = await openWire(server, 'beat')
    for (let beats = 0; beats < 3; beats++) {
      expect(await client.next()).toBe('2')
      client.send('3')
    }
    client.close()
  })

  it('ends a session on polling whose client does not answer', async () => {
    const session = await openPolling(server, 'beat')
    expect(await session.read()).toBe('2')
    expect(await session.read()).toBe('1')
    await expectGone(session)
  })

  it('ends a WebSocket whose client does not answer', async () => {
    const client = await openWire(server, 'beat')
    expect(await client.next()).toBe('2')
    expect(await client.closed).toBeGreaterThan(0)
  })
}
