import { expect, it } from 'vitest'
import { openPolling, openWire, type Server, type Wire } from './client.ts'

/** Socket.IO, packet by packet ("Exchange protocol"). */
export function packetCases(server: Server): void {
  const open = () => openWire(server, 'socket.io')

  async function joined(): Promise<Wire> {
    const client = await open()
    client.send('40')
    await client.next()
    await client.next()
    return client
  }

  it.each([
    ['the main namespace', '40', '40', '42["auth",{}]'],
    ['the main namespace with a payload', '40{"token":"123"}', '40', '42["auth",{"token":"123"}]'],
    ['another namespace', '40/custom,', '40/custom,', '42/custom,["auth",{}]'],
    ['another namespace without the comma', '40/custom', '40/custom,', '42/custom,["auth",{}]'],
    [
      'another namespace with a payload',
      '40/custom,{"token":"abc"}',
      '40/custom,',
      '42/custom,["auth",{"token":"abc"}]',
    ],
  ])('lets a client join %s', async (_, packet, head, event) => {
    const client = await open()
    client.send(packet)
    const reply = String(await client.next())
    expect(reply.startsWith(head)).toBe(true)
    expect(JSON.parse(reply.slice(head.length))).toEqual({ sid: expect.stringMatching(/^[\w-]{20,}$/) })
    expect(await client.next()).toBe(event)
    client.close()
  })

  it('gives a socket an id that is not its session’s', async () => {
    const client = await open()
    client.send('40')
    expect(String(await client.next())).not.toContain(client.sid)
    client.close()
  })

  it('refuses an unknown namespace, and the connection stays', async () => {
    const client = await open()
    client.send('40/random')
    expect(await client.next()).toBe('44/random,{"message":"Invalid namespace"}')
    client.send('40/custom,')
    expect(String(await client.next()).startsWith('40/custom,')).toBe(true)
    client.close()
  })

  it('refuses whom the namespace does not want, and tells why', async () => {
    const client = await open()
    client.send('40/guarded,{"token":"bad"}')
    expect(await client.next()).toBe('44/guarded,{"message":"Not you","data":{"hint":"ask for a token"}}')
    client.send('40/guarded,{"token":"throws"}')
    expect(await client.next()).not.toContain('secret')
    client.send('40/guarded,{"token":"nothing"}')
    expect(await client.next()).toBe('44/guarded,{"message":"Not authorized"}')
    client.send('40/guarded,{"token":"good"}')
    expect(String(await client.next()).startsWith('40/guarded,{')).toBe(true)
    client.send('42/guarded,1["who"]')
    expect(await client.next()).toBe('43/guarded,1[{"user":"ann"}]')
    client.close()
  })

  it('refuses more namespaces than one connection may have', async () => {
    const client = await open()
    for (const [nsp, count] of [
      ['/', 2],
      ['/custom', 2],
      ['/guarded', 1],
    ] as const) {
      client.send(`40${nsp === '/' ? '' : `${nsp},`}{"token":"good"}`)
      for (let i = 0; i < count; i++) await client.next()
    }
    client.send('40/random')
    expect(await client.next()).toBe('44/random,{"message":"Invalid namespace"}')
    client.close()
  })

  it.each([
    ['nothing but silence', []],
    ['a refusal and silence', ['40/random']],
    ['a packet that is none', ['4abc']],
    ['an event before CONNECT', ['42["x"]']],
    ['a second CONNECT', ['40', '40']],
    ['a CONNECT_ERROR', ['40', '44{"message":"x"}']],
    ['an event that is an object', ['40', '42{}']],
    ['an event that is empty', ['40', '42[]']],
    ['an event without a payload', ['40', '42']],
    ['an event in another namespace', ['40', '42/custom,["x"]']],
    ['an ack id that is none', ['40', '42abc["message-with-ack",1]']],
    ['an acknowledgement that is an object', ['40', '431{}']],
    ['a reserved name', ['40', '42["disconnect"]']],
    ['a CONNECT payload that is a list', ['40[]']],
    ['bytes that nobody announced', ['40', new Uint8Array([1])]],
    ['text where bytes were announced', ['40', '451-["x",{"_placeholder":true,"num":0}]', '42["y"]']],
    [
      'a placeholder without its bytes',
      ['40', '451-["x",{"_placeholder":true,"num":1}]', new Uint8Array([1])],
    ],
    ['eleven attachments', ['40', '4511-["x"]']],
  ])('closes the connection upon %s', async (_, frames) => {
    const client = await open()
    for (const frame of frames) client.send(frame)
    expect(await client.closed).toBeGreaterThan(0)
  })

  it('leaves the main namespace, and the connection stays', async () => {
    const client = await joined()
    client.send('41')
    client.send('40')
    expect(String(await client.next()).startsWith('40{')).toBe(true)
    client.close()
  })

  it('leaves another namespace; the main one stays', async () => {
    const client = await joined()
    client.send('40/custom')
    await client.next()
    await client.next()
    client.send('41/custom')
    client.send('42["message","to the main one"]')
    expect(await client.next()).toBe('42["message-back","to the main one"]')
    client.close()
  })

  it('sends a client away from a namespace; the connection stays', async () => {
    const client = await joined()
    client.send('42["leave"]')
    expect(await client.next()).toBe('41')
    client.send('40/custom,')
    expect(String(await client.next()).startsWith('40/custom,')).toBe(true)
    client.close()
  })

  it('survives a handler that fails', async () => {
    const client = await joined()
    client.send('42["fail"]')
    client.send('42["message",1]')
    expect(await client.next()).toBe('42["message-back",1]')
    client.close()
  })

  it.each([
    ['an event', '42["message",1,"2",{"3":[true]}]', '42["message-back",1,"2",{"3":[true]}]'],
    ['an event with an ack', '42456["message-with-ack",1,"2",{"3":[false]}]', '43456[1,"2",{"3":[false]}]'],
    ['an ack without arguments', '420["message-with-ack"]', '430[]'],
  ])('takes %s', async (_, packet, answer) => {
    const client = await joined()
    client.send(packet)
    expect(await client.next()).toBe(answer)
    client.close()
  })

  const TWO = '{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}'

  it.each([
    ['an event', `452-["message",${TWO}]`, `452-["message-back",${TWO}]`],
    ['an event with an ack', `452-789["message-with-ack",${TWO}]`, `462-789[${TWO}]`],
  ])('takes %s with attachments', async (_, packet, answer) => {
    const client = await joined()
    client.send(packet)
    client.send(new Uint8Array([1, 2, 3]))
    client.send(new Uint8Array([4, 5, 6]))
    expect(await client.next()).toBe(answer)
    expect(await client.next()).toEqual([1, 2, 3])
    expect(await client.next()).toEqual([4, 5, 6])
    client.close()
  })

  it('does the same over polling', async () => {
    const session = await openPolling(server, 'socket.io')
    await session.post('40')
    const [reply, event] = (await session.read()).split('\x1e')
    expect(reply?.startsWith('40{"sid":')).toBe(true)
    expect(event).toBe('42["auth",{}]')
    await session.post('451-1["message-with-ack",{"_placeholder":true,"num":0}]\x1ebAQID')
    expect(await session.read()).toBe('461-1[{"_placeholder":true,"num":0}]\x1ebAQID')
  })
}
