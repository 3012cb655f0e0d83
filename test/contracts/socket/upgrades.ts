import { expect, it } from 'vitest'
import { errorOf, expectGone, openPolling, type Polled, type Server, type Wire, wire } from './client.ts'

/** The upgrade from polling to WebSocket (Engine.IO, "Upgrade"). */
export function upgradeCases(server: Server): void {
  const open = () => openPolling(server, 'engine.io')
  const attempt = ({ sid }: Polled) => wire(server, `/engine.io/?EIO=4&transport=websocket&sid=${sid}`)

  async function upgraded(session: Polled): Promise<Wire> {
    const client = await attempt(session)
    client.send('2probe')
    expect(await client.next()).toBe('3probe')
    client.send('5')
    return client
  }

  it('answers the probe, ends the next poll with `noop`, and moves', async () => {
    const session = await open()
    const client = await attempt(session)
    client.send('2probe')
    expect(await client.next()).toBe('3probe')
    expect(await session.read()).toBe('6')
    client.send('5')
    client.send('4hello')
    expect(await client.next()).toBe('4hello')
    client.close()
  })

  it('ends the poll that waits with `noop`', async () => {
    const session = await open()
    const waiting = session.read()
    await session.post('6')
    const client = await attempt(session)
    client.send('2probe')
    expect(await waiting).toBe('6')
    expect(await client.next()).toBe('3probe')
    client.close()
  })

  it('takes along what waited', async () => {
    const session = await open()
    const client = await attempt(session)
    client.send('2probe')
    await client.next()
    await session.post('4waits\x1ebAQID')
    client.send('5')
    expect(await client.next()).toBe('4waits')
    expect(await client.next()).toEqual([1, 2, 3])
    client.close()
  })

  it('refuses polls and posts afterwards', async () => {
    const session = await open()
    const client = await upgraded(session)
    expect(await errorOf(await session.get())).toEqual([400, 3])
    expect(await errorOf(await session.post('4x'))).toEqual([400, 3])
    client.send('4hello')
    expect(await client.next()).toBe('4hello')
    client.close()
  })

  it('closes a second WebSocket, during the upgrade and afterwards', async () => {
    const session = await open()
    const client = await attempt(session)
    expect(await (await attempt(session)).closed).toBeGreaterThan(0)
    client.send('2probe')
    await client.next()
    client.send('5')
    expect(await (await attempt(session)).closed).toBeGreaterThan(0)
    client.send('4hello')
    expect(await client.next()).toBe('4hello')
    client.close()
  })

  it.each([['4hello'], ['5'], ['abc'], ['2']])(
    'closes an attempt that begins with `%s`; polling goes on',
    async frame => {
      const session = await open()
      const client = await attempt(session)
      client.send(frame)
      expect(await client.closed).toBeGreaterThan(0)
      await session.post('4still here')
      expect(await session.read()).toBe('4still here')
    },
  )

  it('closes an attempt that takes too long; polling goes on', async () => {
    const session = await open()
    const client = await attempt(session)
    client.send('2probe')
    expect(await client.next()).toBe('3probe')
    expect(await client.closed).toBeGreaterThan(0)
    await session.post('4still here')
    expect(await session.read()).toBe('4still here')
  })

  it('can be tried again', async () => {
    const session = await open()
    const first = await attempt(session)
    first.close()
    await first.closed
    const client = await upgraded(session)
    client.send('4hello')
    expect(await client.next()).toBe('4hello')
    client.close()
  })

  it('ends the session when the WebSocket is gone', async () => {
    const session = await open()
    const client = await upgraded(session)
    client.send('4hello')
    await client.next()
    client.close()
    await expectGone(session)
  })
}
