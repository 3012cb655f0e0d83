/**
 * Behind the real nginx, configured as docs/run/deploy.md has it, where Debian's nginx is installed, as it is on CI.
 *
 * @module-tag long
 */
import { describe, expect, it } from 'vitest'
import { clientOf, connected, type Plain, plain, play, stock, textOf } from '../contracts/gateway/client.ts'
import { runCases } from '../contracts/gateway/runs.ts'
import { NARROW } from '../contracts/gateway/service.ts'
import { ask, expectAlive } from '../contracts/http/client.ts'
import { connectionCases, smokeCases } from '../contracts/http/connections.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { fencesOf } from '../pages/pages.ts'
import { startNode } from './harness.ts'
import { startNginx } from './nginx.ts'

const [shown = '', shownForSeveral = ''] = fencesOf(['deploy.md'])
  .filter(({ language }) => language === 'nginx')
  .map(({ text }) => text)

const UPSTREAM = /^upstream[\s\S]*?^}$/m

/** What the notes say, for one process or for several. */
const configFor = (processes: number): string =>
  processes === 1 ? shown : shown.replace(UPSTREAM, shownForSeveral)

/** Starts servers and nginx before them. */
async function startBehind(entry: string, { SETTINGS = '', processes = 1 } = {}): Promise<Deployment> {
  const servers = await Promise.all(
    Array.from({ length: processes }, () => startNode(entry, SETTINGS === '' ? {} : { env: { SETTINGS } })),
  )
  const nginx = await startNginx(
    configFor(processes),
    servers.map(({ url }) => new URL(url).host),
  )
  const stop = async () => {
    await nginx.stop()
    for (const server of servers) await server.stop()
  }
  return { ...servers[0]!, url: nginx.url, folder: undefined, stop }
}

/** Opens sockets, and lets go of them all in the end. */
async function openAll(openings: readonly (() => Promise<Plain>)[], then = async () => {}): Promise<void> {
  const opened: Plain[] = []
  try {
    for (const open of openings) opened.push(await open())
    await then()
  } finally {
    for (const socket of opened) socket.leave()
    await Promise.all(opened.map(({ closed }) => closed))
  }
}

needing('nginx').describe('behind nginx', () => {
  describe.concurrent('over HTTP', () => {
    const server = served(() => startBehind('test/runtimes/entries/http-server.ts'))
    smokeCases(server)
    connectionCases(server)

    it('lets uploads through that nginx would refuse by default', async () => {
      const body = new FormData()
      body.set('input', 'x')
      body.set('files', new File([new Uint8Array(4 << 20)], 'a.bin'))
      const { status } = await ask(server, '/images/agents/shout/run', { method: 'POST', body })
      // By the handler, which takes images alone.
      expect(status).toBe(415)
      await expectAlive(server)
    })
  })

  describe('a stock socket client', () => {
    const server = served(() => startBehind('test/contracts/gateway/service.ts'))
    runCases(server, async auth => {
      const socket = stock(server, { transports: ['websocket'], ...(auth && { auth }) })
      await connected(socket)
      return clientOf(socket)
    })

    it('begins with polling and is upgraded', async () => {
      const socket = stock(server)
      const upgraded = new Promise(resolve => socket.io.engine.once('upgrade', resolve))
      await connected(socket)
      expect(await upgraded).toMatchObject({ name: 'websocket' })
    })
  })

  describe('the event socket with `trustProxy`', () => {
    const server = served(() => startBehind('test/contracts/gateway/service.ts', { SETTINGS: 'narrow' }))
    /** Opens a socket of a client that has this address; it may send headers of its own. */
    const from = (localAddress: string, headers: Record<string, string> = {}) =>
      plain(server, { localAddress, headers, connect: {} })
    /** Waits until those of the test before have gone. */
    const once = (check: () => Promise<void>) => eventually(check)

    it('has more clients than one address may have', async () => {
      const addresses = Array.from(
        { length: NARROW.maxSocketsPerIp + 1 },
        (_, index) => `127.0.0.${index + 2}`,
      )
      await once(async () => void (await openAll(addresses.map(address => () => from(address)))))
    })

    it('bounds one address still, whatever its clients say of themselves', async () => {
      const forged = (index: number) => ({
        'x-forwarded-for': `9.9.9.${index}`,
        'x-real-ip': `9.9.9.${index}`,
        forwarded: `for=9.9.9.${index}`,
      })
      await once(async () => {
        const own = Array.from(
          { length: NARROW.maxSocketsPerIp },
          (_, index) => () => from('127.0.0.2', forged(index)),
        )
        await openAll(own, async () => {
          await expect(from('127.0.0.2', forged(99))).rejects.toThrow('status 503')
          await openAll([() => from('127.0.0.3', { 'x-forwarded-for': '127.0.0.2' })])
        })
      })
    })
  })

  describe('with several processes', () => {
    const server = served(() => startBehind('test/contracts/gateway/service.ts', { processes: 2 }))

    it('clients that poll reach the process that has their session', async () => {
      const sockets = Array.from({ length: 6 }, () =>
        stock(server, { transports: ['polling'], reconnection: false }),
      )
      await Promise.all(sockets.map(connected))
      for (const socket of sockets) {
        const events = await play(clientOf(socket), 'agent.run', { name: 'echo', input: 'to the same one' })
        expect(textOf(events)).toBe('to the same one')
      }
    })
  })
})
