/** Searches for keys and credentials in every place where a socket could leave them. */
import { expect, it } from 'vitest'
import { filesIn } from '../run-host/folder.ts'
import { own } from '../runs/client.ts'
import { secret } from '../secrets.ts'
import { clientOf, connected, ended, play, type Server, start, stock } from './client.ts'

export function canaryCases(server: Server): void {
  it('keeps no key of a handshake or a payload, nor any credential', async () => {
    const socket = stock(server, {
      transports: ['websocket'],
      auth: { apiKey: secret('hand') },
      extraHeaders: { authorization: `Bearer ${secret('bearer')}`, cookie: `session=${secret('cookie')}` },
    })
    const client = clientOf(socket)
    await connected(socket)
    for (const name of ['leaks-keys', 'loud', 'told']) {
      const payload = { name, input: 'x', sessionId: 'stored-by-a-socket' }
      await ended(client, await start(client, 'agent.run', payload))
      await ended(client, await start(client, 'agent.run', { ...payload, apiKey: secret('load') }))
      const keyed = { ...payload, apiKey: secret('load'), idempotencyKey: own('key') }
      await ended(client, await start(client, 'agent.run', keyed))
    }
    const back = connected(socket)
    socket.io.engine.close()
    await back
    await play(client, 'agent.run', { name: 'told', input: 'x' })
    expect(JSON.stringify(client.got)).not.toContain('sk-canary')
    expect(server().log()).not.toContain('sk-canary')
    const { folder } = server()
    if (folder === undefined) return
    const files = [...(await filesIn(folder))]
    const holding = (text: string) => files.filter(([, bytes]) => bytes.includes(text)).map(([path]) => path)
    expect(holding('stored-by-a-socket')).not.toEqual([])
    expect(holding('sk-canary')).toEqual([])
  })
}
