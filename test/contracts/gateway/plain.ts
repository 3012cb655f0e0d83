/** The contract of a WebSocket that speaks only JSON. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { noted, own } from '../runs/client.ts'
import { type Plain, plain, play, type Server, start } from './client.ts'

export function plainCases(server: Server): void {
  const open = () => plain(server)

  it('answers `connect`', async () => {
    const client = await plain(server, { connect: {} })
    await eventually(() => expect(client.frames).toHaveLength(1))
    expect(client.frames[0]).toEqual({ event: 'connect', data: { sid: expect.any(String) } })
  })

  it('needs no `connect`, and keeps what is sent before it is known who sends it', async () => {
    const client = await open()
    for (const input of ['one', 'two', 'three']) client.tell('agent.run', { name: 'echo', input })
    await eventually(() => {
      const done = client.frames.filter(({ event }) => event === 'agent.done')
      expect(new Set(done.map(({ data }) => data.output))).toEqual(
        new Set(['one', 'two', 'three'].map(text => ({ text }))),
      )
    })
  })

  it('answers by the `id` of the event, a number or text', async () => {
    const client = await open()
    client.send('{"event":"agent.run","data":{"name":"echo","input":"x"},"id":"a b"}')
    await eventually(() => expect(client.frames[0]).toMatchObject({ event: 'ack', id: 'a b' }))
    await eventually(() => expect(client.frames.at(-1)?.event).toBe('agent.done'))
  })

  it.each<[string, string | Uint8Array]>([
    ['what is no JSON', 'hello'],
    ['JSON that is no object', '[1,2]'],
    ['null', 'null'],
    ['no event', '{"data":{}}'],
    ['an event that is no text', '{"event":7}'],
    ['an id that is no id', '{"event":"agent.run","id":{}}'],
    ['an id without end', JSON.stringify({ event: 'agent.run', id: 'x'.repeat(101) })],
    ['bytes', new Uint8Array([1, 2, 3])],
    ['nothing', ''],
    ['a packet of Engine.IO', '40/service,'],
  ])('is closed after %s', async (_, frame) => {
    const client = await plain(server, { connect: {} })
    client.send(frame)
    expect(await client.closed).toBe(1002)
  })

  it('is closed after a second `connect`', async () => {
    const client = await plain(server, { connect: {} })
    client.tell('connect', {})
    expect(await client.closed).toBe(1002)
  })

  it('cancels its runs when it breaks', async () => {
    const client = await open()
    const gate = own('gate')
    await start(client, 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    client.send('broken')
    await noted(server, `${gate} stopped`)
  })

  it('gets on with others beside it', async () => {
    const clients: Plain[] = await Promise.all(Array.from({ length: 5 }, open))
    const all = clients.map((client, index) =>
      play(client, 'agent.run', { name: 'echo', input: `client ${index}` }),
    )
    for (const [index, events] of (await Promise.all(all)).entries()) {
      expect(events.at(-1)?.data.output).toEqual({ text: `client ${index}` })
    }
  })
}

/** The cases with narrow limits. */
export function narrowPlainCases(server: Server): void {
  describe('a plain WebSocket', () => {
    it('is closed where it does not say who it is', async () => {
      const client = await plain(server)
      expect(await client.closed).toBe(1008)
    })

    it('is closed after a frame that is too long', async () => {
      const client = await plain(server, { connect: {} })
      client.tell('agent.run', { name: 'echo', input: 'x'.repeat(20_000) })
      expect(await client.closed).toBe(1009)
      const other = await plain(server, { connect: {} })
      other.tell('agent.run', { name: 'echo', input: '€'.repeat(4000) })
      expect(await other.closed).toBe(1009)
    })
  })
}
