import { request as ask, createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { Agent, createHandler, memoryState } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { AgUiError, ServableAgent } from '../../../src/protocols/ag-ui-client/index.ts'
import { serve as listen } from '../../../src/runtimes/node.ts'
import { identify } from '../../contracts/identify.ts'
import { eventually } from '../../eventually.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** A service whose agent says numbers, one after the other. */
async function serve(count: number): Promise<number> {
  const counts = new Agent({
    name: 'counts',
    register: false,
    async *run() {
      for (let number = 0; number < count; number++) {
        yield `${number} `
        await new Promise(resolve => setTimeout(resolve, 2))
      }
    },
  })
  const handler = createHandler({
    serve: [counts],
    registry: false,
    state: memoryState(),
    middleware: [identify],
    runs: { disconnect: 'continue' },
    plugins: [agUi()],
    logger: false,
  })
  const server = await listen(handler, { port: 0, hostname: '127.0.0.1' })
  closing.push(() => server.close())
  return server.port
}

/** A proxy that cuts every stream after some milliseconds, until it has cut so many. */
async function cutting(port: number, ms: number, most: number) {
  let cuts = 0
  const proxy = createServer((request, response) => {
    const { url: path, method, headers } = request
    const up = ask({ host: '127.0.0.1', port, path, method, headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      if (cuts >= most) return
      const timer = setTimeout(() => {
        // Another stream may have been the last one.
        if (cuts >= most) return
        cuts++
        up.destroy()
        response.destroy()
      }, ms)
      answer.on('end', () => clearTimeout(timer))
    })
    up.on('error', () => response.destroy())
    request.pipe(up)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return { url: `http://127.0.0.1:${portOf(proxy)}/api/agents/counts/ag-ui`, cuts: () => cuts }
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => `${number} `).join('')

it('loses and doubles nothing over 200 cuts, neither of a run nor of a page that attaches', async () => {
  const count = 1500
  const port = await serve(count)
  const proxy = await cutting(port, 20, 200)
  const options = { url: proxy.url, threadId: 'thread', headers: { 'x-test-user': 'ann' }, retryMs: 1 }
  const first = new ServableAgent(options)
  first.addMessage({ id: 'm', role: 'user', content: 'go' })
  const running = first.runAgent()
  await eventually(() => expect(first.messages).toHaveLength(2))
  const second = new ServableAgent(options)
  await Promise.all([running, second.connectAgent()])
  expect(first.messages.at(-1)?.content).toBe(numbers(count))
  expect(second.messages).toEqual(first.messages)
  expect(proxy.cuts()).toBe(200)
}, 60_000)

it('gives up after so many cuts without anything new', async () => {
  const options = { url: 'http://service.test/', threadId: 't', maxRetries: 3, retryMs: 1 }
  let asked = 0
  const agent = new ServableAgent({
    ...options,
    fetch: async () => {
      asked++
      throw new TypeError('cut')
    },
  })
  const failed = await agent.connectAgent().catch(error => error)
  expect(failed).toBeInstanceOf(AgUiError)
  expect([failed.code, asked]).toEqual(['connection_lost', 4])
})

it('stops at once', async () => {
  const port = await serve(100_000)
  const { url } = await cutting(port, 10, 0)
  const agent = new ServableAgent({ url, threadId: 't', headers: { 'x-test-user': 'ann' } })
  agent.addMessage({ id: 'm', role: 'user', content: 'go' })
  const running = agent.runAgent()
  await eventually(() => expect(agent.messages).toHaveLength(2))
  const copy = agent.clone()
  expect([copy.url, copy.threadId, copy.messages]).toEqual([url, 't', agent.messages])
  const attached = copy.connectAgent()
  await eventually(() => expect(copy.isRunning).toBe(true))
  copy.abortRun()
  await attached
  expect(agent.isRunning).toBe(true)
  agent.abortRun()
  await running
})
