/**
 * A real Next.js, built and started: the contracts in its Node runtime and in its Edge runtime, and the example. Of HTTP, stored
 * runs and A2A it is asked what Next may change: requests, bodies, answers, streams, and clients that leave.
 *
 * Left out, for Next decides it before any route handler is asked (docs/run/deploy-next.md): paths with broken percent-encoding,
 * WebSockets, and in the Edge runtime bodies that never end. Stored runs, and with them A2A's tasks and the socket, have
 * no memory to share in the Edge runtime.
 *
 * @module-tag long
 */
import { readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { a2aSmoke } from '../contracts/a2a.ts'
import { adminContract } from '../contracts/admin.ts'
import { agUiContract } from '../contracts/ag-ui.ts'
import { aiSdkUiContract } from '../contracts/ai-sdk-ui.ts'
import { clientContract, clientServer } from '../contracts/client.ts'
import { consoleContract } from '../contracts/console.ts'
import { clientOf, connected, plain, play, refusal, stock, textOf } from '../contracts/gateway/client.ts'
import { runCases } from '../contracts/gateway/runs.ts'
import { NARROW } from '../contracts/gateway/service.ts'
import { ask, expectProblem, jsonRequest, post, run } from '../contracts/http/client.ts'
import { httpConnectionContract } from '../contracts/http.ts'
import { leavingCases } from '../contracts/mcp/leaving.ts'
import { tellingCases } from '../contracts/mcp/telling.ts'
import { shortCases } from '../contracts/mcp-clients/ways.ts'
import { countingCases } from '../contracts/metrics/counting.ts'
import { aiContract } from '../contracts/model-agent.ts'
import { runsConnectionContract } from '../contracts/runs.ts'
import { served } from '../contracts/served.ts'
import { eventually } from '../eventually.ts'
import { connecting, legacy, modern } from '../frameworks/mcp-clients/client-2.ts'
import { type NextApps, nextApps } from './next-apps.ts'
import { chatCases } from './next-chat.ts'
import { everyPluginCase } from './next-example.ts'
import { edgePluginCases, pluginCases } from './next-plugins.ts'

let apps: NextApps
beforeAll(async () => {
  apps = await nextApps()
}, 1_200_000)

const deploy = (ENTRY: string) => (SETTINGS: string) => apps.start('node', { ENTRY, SETTINGS })

describe('a Node route', () => {
  httpConnectionContract(() => deploy('http')(''), { decodesPaths: true })
  runsConnectionContract(deploy('runs'), { decodesPaths: true, keepsUpgrades: true })
  a2aSmoke(deploy('a2a'))
  describe('AG-UI', () => agUiContract(deploy('ag-ui')))
  describe('MCP', () => {
    const mcp = served(() => deploy('mcp')('usual'))
    tellingCases(mcp)
    leavingCases(mcp)
  })
  describe('metrics', () =>
    countingCases(
      served(() => deploy('metrics')('')),
      400,
      'polling',
    ))
  pluginCases(deploy)
})

describe('a Node route over a database', () => {
  const files = async () => (await readdir(apps.folder)).filter(name => name.startsWith('kept.db'))

  it('opens it when it is asked, not when it is built, and leaves nothing beside it when it ends', async () => {
    expect(await files()).toEqual([])
    const app = await deploy('kept')('')
    try {
      const request = jsonRequest({ input: 'x' }, { prefer: 'respond-async' })
      const answer = await fetch(`${app.url}/api/agents/echo/run`, request)
      expect(answer.status).toBe(202)
      // Else the connection is in use, and the server does not end by itself.
      await answer.text()
      expect((await files()).length).toBeGreaterThan(1)
    } finally {
      await app.stop()
    }
    expect(await files()).toEqual(['kept.db'])
  })
})

adminContract('a Node route', () => deploy('admin')(''))

describe('a model-backed agent on a Node route', () => aiContract(deploy('ai')))

describe('chats on a Node route', () => aiSdkUiContract(deploy('ai-sdk-ui')))

describe('MCP on a Node route', () => {
  const server = served(() => deploy('mcp-clients')(''))
  shortCases({ revision: '2026-07-28' }, () => connecting(modern), server)
  shortCases({ revision: '2025-06-18' }, () => connecting(legacy('2025-06-18')), server)
})

describe('the client on a Node route', () => clientContract(clientServer(), () => deploy('client')('')))

describe('the client on an Edge route', () =>
  clientContract(clientServer(), () => apps.start('edge'), '/exercise'))

describe('the gateway in a Node route', () => {
  const server = served(() => deploy('gateway')('usual'))

  runCases(server, async auth => {
    const socket = stock(server, auth && { auth })
    await connected(socket)
    expect(socket.io.engine.transport.name).toBe('polling')
    return clientOf(socket)
  })

  it('has told the log that nobody says the address of its clients', async () => {
    await connected(stock(server))
    await eventually(() => expect(server().log()).toContain('limits.no_address'))
  })

  it('ends the connection of a client that wants a WebSocket and nothing else', async () => {
    const socket = stock(server, { transports: ['websocket'], reconnection: false })
    expect((await refusal(socket)).message).toBe('websocket error')
    await expect(plain(server)).rejects.toThrow('socket hang up')
  })

  it('has a client that tries a WebSocket first go on with polling', async () => {
    const socket = stock(server, { transports: ['websocket', 'polling'], tryAllTransports: true })
    await connected(socket)
    expect(socket.io.engine.transport.name).toBe('polling')
    const events = await play(clientOf(socket), 'agent.run', { name: 'echo', input: 'after all' })
    expect(textOf(events)).toBe('after all')
  })
})

describe('the gateway with `trustProxy` in a Node route', () => {
  const server = served(() => deploy('gateway')('narrow'))

  it('counts clients behind one proxy by what that says, and not by what they say', async () => {
    let forged = 0
    const openFor = async (address: string) => {
      const headers = { 'x-forwarded-for': `9.9.9.${++forged}, ${address}` }
      return (await fetch(`${server().url}/socket.io/?EIO=4&transport=polling`, { headers })).status
    }
    const own = Array.from({ length: NARROW.maxSocketsPerIp }, () => openFor('1.1.1.1'))
    expect(new Set(await Promise.all(own))).toEqual(new Set([200]))
    expect(await openFor('1.1.1.1')).toBe(503)
    expect(await openFor('2.2.2.2')).toBe(200)
    expect(server().log()).not.toContain('limits.no_address')
  })
})

describe('a Node route with the console', () => consoleContract(() => deploy('console')('')))

describe('an Edge route', () => {
  const host = { decodesPaths: true, readsBodies: true, logsLeaving: true }
  const server = httpConnectionContract(() => apps.start('edge'), host)

  it('refuses stored runs, which have no memory to share', async () => {
    const answer = await post(server, '/api/agents/echo/run', { input: 'x', background: true })
    await expectProblem(server, answer, 400, 'runs_not_stored')
  })

  edgePluginCases(ENTRY => SETTINGS => apps.start('edge', { ENTRY, SETTINGS }))
})

describe('the example', () => {
  const server = served(() => apps.start('example'))

  it('serves agents, teams, workflows and A2A below /api', async () => {
    const echoed = await run(server, '/api/agents/echo/run', { input: 'Hello' })
    expect(echoed.text).toBe('Hello')
    expect(JSON.parse((await ask(server, '/api/registry')).text)).toMatchObject({ teams: ['desk'] })
    const message = { kind: 'message', messageId: '1', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }
    const request = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
    const answer = await fetch(`${server().url}/api/a2a`, jsonRequest(request))
    expect(await answer.json()).toMatchObject({ result: { status: { state: 'completed' } } })
    const { url } = server()
    const card = await (await fetch(`${url}/api/a2a/agents/echo/.well-known/agent-card.json`)).json()
    expect(card.url).toBe(`${url}/api/a2a/agents/echo`)
  })

  it('serves the stock socket client', async () => {
    const socket = stock(server, { path: '/api/socket.io' })
    const events = await play(clientOf(socket), 'agent.run', { name: 'echo', input: 'by polling' })
    expect(textOf(events)).toBe('by polling')
  })

  everyPluginCase(() => apps)

  describe('its page', { timeout: 60_000 }, () => chatCases(server, () => apps))
})
