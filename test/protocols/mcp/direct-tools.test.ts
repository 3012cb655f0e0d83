/** Tools that clients call without an agent. */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { MetricsExporter } from '../../../src/features/metrics/exporter.ts'
import { metrics } from '../../../src/features/metrics/plugin.ts'
import { bearerAuth, type HandlerOptions, memoryState, type Tool, tool } from '../../../src/index.ts'
import {
  type DirectToolsOptions,
  directTools,
  mcpTasks,
  type ToolManager,
} from '../../../src/protocols/mcp/plugin.ts'
import { speaker } from '../../support.ts'
import { type Asked, SHOWS_FORMS, serve, TAKES_TASKS } from './calling.ts'

const numbers = v.object({ a: v.number(), b: v.number() })
const multiply = tool({
  ...{ name: 'multiply', description: 'Multiplies', parameters: numbers },
  execute: ({ a, b }) => a * b,
})

const kitOf = (...tools: Tool[]) => ({ name: 'kit', tools })

function offering(options: DirectToolsOptions, more: HandlerOptions = {}, tools?: true) {
  const state = memoryState()
  return serve({ tools, directTools: directTools(options), tasks: mcpTasks() }, { state, ...more })
}

/** Tools of connected servers, as `ToolServerManager` gives them. */
function managerOf(...tools: Tool[]) {
  const connected = [...tools]
  const manager: ToolManager = {
    tools: async () => connected,
    tool: name => ({
      name,
      execute: (args, context) => connected.find(each => each.name === name)?.execute(args, context),
    }),
  }
  return { connected, manager }
}

describe('a toolkit', () => {
  const served = offering({ toolkits: [kitOf(multiply), kitOf({ name: 'now', execute: () => 'today' })] })

  it('is a list of tools', async () => {
    const list = await served.list()
    expect(list.map(({ name, description }) => [name, description])).toEqual([
      ['multiply', 'Multiplies'],
      ['now', undefined],
    ])
    expect(list[0].inputSchema).toMatchObject({ type: 'object', required: ['a', 'b'] })
    expect(list[1].inputSchema).toEqual({ type: 'object' })
    for (const each of list) expect(each).not.toHaveProperty('outputSchema')
  })

  it('does what a client calls', async () => {
    const product = await served.call('multiply', { a: 6, b: 7 })
    expect(product.result).toMatchObject({ content: [{ type: 'text', text: '42' }], resultType: 'complete' })
    expect(product.result._meta['servable/runId']).toBe(product.headers.get('x-run-id'))
    expect((await served.call('now', {})).result.content[0].text).toBe('today')
    const { result } = await served.askLegacy('tools/call', { name: 'multiply', arguments: { a: 2, b: 2 } })
    expect(result.content[0].text).toBe('4')
  })

  it.each([{}, { a: 1 }, { a: '1', b: 2 }, { a: null, b: 1 }, { input: 'x' }])(
    'says what does not fit in %j',
    async args => {
      const { status, result } = await served.call('multiply', args)
      expect([status, result.isError, result.content.length]).toEqual([200, true, 1])
      expect(result.content[0].text).not.toBe('')
    },
  )

  it('checks arguments with plain JSON Schema and with zod', async () => {
    const plain = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
    for (const parameters of [plain, z.object({ a: z.number() })]) {
      const takes: Tool = { name: 'takes', parameters, execute: args => args }
      const { call, list } = offering({ toolkits: [kitOf(takes)] })
      expect((await list())[0].inputSchema).toMatchObject(plain)
      expect((await call('takes', {})).result.isError).toBe(true)
      expect((await call('takes', { a: 1 })).result.structuredContent).toEqual({ a: 1 })
    }
  })

  it('is no part of the API, nor of what is served', async () => {
    for (const [path, status] of [
      ['/api/agents', 200],
      ['/api/agents/multiply', 404],
      ['/api/agents/now', 404],
    ] as const) {
      const response = await served.handler(new Request(`http://127.0.0.1${path}`))
      expect(response.status).toBe(status)
      expect(await response.text()).not.toContain('Multiplies')
    }
    const body = '{"input":"x"}'
    const headers = { 'content-type': 'application/json' }
    const run = new Request('http://127.0.0.1/api/agents/now/run', { method: 'POST', body, headers })
    expect((await served.handler(run)).status).toBe(404)
  })

  it('stands below agents of its names', async () => {
    const agents = { now: speaker('now', 'the agent') }
    const both = offering(
      { toolkits: [kitOf(multiply, { name: 'now', execute: () => 'the tool' })] },
      { agents },
      true,
    )
    expect((await both.list()).map(({ name }) => name)).toEqual(['now', 'multiply'])
    expect((await both.call('now', { input: 'x' })).result.content[0].text).toBe('the agent')
  })

  it('offers those that are named', async () => {
    const { list, call } = offering({
      toolkits: [kitOf(multiply, { name: 'now', execute: () => 1 })],
      only: ['now'],
    })
    expect((await list()).map(({ name }) => name)).toEqual(['now'])
    expect((await call('multiply', { a: 1, b: 1 })).error.code).toBe(-32602)
  })

  it('may have tools of any name', async () => {
    const names = ['__proto__', 'constructor', 'a b/c.d', 'é']
    const { list, call } = offering({
      toolkits: [kitOf(...names.map(name => ({ name, execute: () => name })))],
    })
    const listed = (await list()).map(({ name }) => name)
    expect(listed).toEqual(['__proto__', 'constructor', 'a_b_c_d', '_'])
    for (const [at, name] of listed.entries())
      expect((await call(name, {})).result.content[0].text).toBe(names[at])
    expect((await call('toString', {})).error.code).toBe(-32602)
  })
})

describe('tools of connected servers', () => {
  const search: Tool = { name: 'github.search', description: 'Searches', execute: args => ({ found: args }) }

  it('are offered as long as they are connected', async () => {
    const { connected, manager } = managerOf(search)
    const { list, call } = offering({ toolServers: manager })
    expect((await list()).map(({ name }) => name)).toEqual(['github_search'])
    const { result } = await call('github_search', { q: 'x' })
    expect(result.structuredContent).toEqual({ found: { q: 'x' } })
    connected.push({ name: 'files.read', execute: () => 'text' })
    expect((await list()).map(({ name }) => name)).toEqual(['github_search', 'files_read'])
    expect((await call('files_read', {})).result.content[0].text).toBe('text')
    connected.length = 0
    expect(await list()).toEqual([])
    expect((await call('github_search', {})).error.code).toBe(-32602)
  })

  it('are those that are named, and stand below toolkits', async () => {
    const { manager } = managerOf(
      search,
      { name: 'a.b', execute: () => 'of a server' },
      { name: 'x.y', execute: () => 1 },
    )
    const toolkits = [kitOf({ name: 'a_b', execute: () => 'of a toolkit' })]
    const { list, call } = offering({ toolkits, toolServers: manager, only: ['a_b', 'a.b', 'github.search'] })
    expect((await list()).map(({ name }) => name)).toEqual(['a_b', 'github_search'])
    expect((await call('a_b', {})).result.content[0].text).toBe('of a toolkit')
    expect((await call('x_y', {})).error.code).toBe(-32602)
  })

  it('that cannot be listed are a failure of the service, and a masked one', async () => {
    const manager: ToolManager = {
      ...managerOf().manager,
      tools: async () => {
        throw new Error('the vault')
      },
    }
    const served = offering({ toolServers: manager })
    const { status, text, error } = await served.ask('tools/list')
    expect([status, error.code]).toEqual([500, -32603])
    expect(text).not.toContain('vault')
    expect(JSON.stringify(served.log)).toContain('vault')
  })
})

describe('a tool', () => {
  it('that fails says so, and what an operator should know', async () => {
    const fails: Tool = {
      name: 'fails',
      execute() {
        throw new Error('the vault is open')
      },
    }
    const served = offering({ toolkits: [kitOf(fails)] })
    const { status, text, result } = await served.call('fails', {})
    expect([status, result.isError]).toEqual([200, true])
    expect(text).not.toContain('vault')
    expect(JSON.stringify(served.log)).toContain('vault')
  })

  it('that gives no JSON fails', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    for (const value of [circle, 1n]) {
      const { call } = offering({ toolkits: [kitOf({ name: 'odd', execute: () => value })] })
      const { status, error } = await call('odd', {})
      expect([status, error]).toMatchObject([200, { code: -32603, data: { code: 'invalid_event' } }])
    }
    for (const value of [undefined, null, Symbol('x'), () => 1, Number.NaN]) {
      const { call } = offering({ toolkits: [kitOf({ name: 'odd', execute: () => value })] })
      expect((await call('odd', {})).result.content).toEqual([{ type: 'text', text: 'null' }])
    }
  })

  it('that takes too long is ended', async () => {
    let isOver = false
    const slow: Tool = {
      name: 'slow',
      execute: (_, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            isOver = true
            reject(signal.reason)
          }),
        ),
    }
    const { call } = offering({ toolkits: [kitOf(slow)] }, { runs: { timeoutMs: 20 } })
    const { result } = await call('slow', {})
    expect([result.isError, isOver]).toEqual([true, true])
  })

  it('ends where its client leaves', async () => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const waits: Tool = {
      name: 'waits',
      execute: (_, { signal }) => {
        signal.addEventListener('abort', () => ended.resolve())
        begun.resolve()
        return ended.promise
      },
    }
    const { open } = offering({ toolkits: [kitOf(waits)] })
    const leaving = new AbortController()
    const answer = Promise.allSettled([open('waits', {}, { signal: leaving.signal })])
    await begun.promise
    leaving.abort()
    await ended.promise
    await answer
  })

  it('knows who calls, and no key', async () => {
    const told: unknown[] = []
    const asks: Tool = {
      name: 'asks',
      execute: (_, context) => {
        told.push(context)
        return context.identity
      },
    }
    const middleware = [bearerAuth({ tokens: { 'token-of-ann': 'ann' } })]
    const { call } = offering({ toolkits: [kitOf(asks)] }, { middleware })
    const headers = { authorization: 'Bearer token-of-ann', 'x-api-key': 'sk-0123456789' }
    expect((await call('asks', {}, { headers })).result.content[0].text).toBe('ann')
    expect(told[0]).toMatchObject({
      identity: 'ann',
      runId: expect.any(String),
      requestId: expect.any(String),
    })
    expect(JSON.stringify(told)).not.toMatch(/token-of-ann|sk-0123456789/)
  })

  it('is counted', async () => {
    const served = offering({ toolkits: [kitOf(multiply)] }, { plugins: [metrics(new MetricsExporter())] })
    await served.call('multiply', { a: 1, b: 2 })
    const response = await served.handler(new Request('http://127.0.0.1/api/metrics'))
    expect(await response.text()).toMatch(/^service_agent_runs_total\{.*"multiply".*\} 1$/m)
  })

  describe('that a person must approve', () => {
    const paid: unknown[] = []
    const pay = tool({
      ...{ name: 'pay', parameters: v.object({ amount: v.number() }) },
      needsApproval: ({ amount }) => amount > 10,
      execute: ({ amount }) => {
        paid.push(amount)
        return `paid ${amount}`
      },
    })
    const served = offering({ toolkits: [kitOf(pay)] })
    const asked: Asked = { capabilities: SHOWS_FORMS }
    const answer = (amount: number, requestState: unknown, inputResponses: object) =>
      served.call('pay', { amount }, { ...asked, params: { requestState, inputResponses } })

    it('is done without one where it needs none', async () => {
      expect((await served.call('pay', { amount: 5 }, asked)).result.content[0].text).toBe('paid 5')
    })

    it('waits, and is done once approved, with the arguments that were approved', async () => {
      const { result } = await served.call('pay', { amount: 50 }, asked)
      const [[key, form] = ['']] = Object.entries<{ params: { message: string } }>(result.inputRequests)
      expect(form?.params.message).toContain('Approve `pay`: {"amount":50}')
      expect(paid).not.toContain(50)
      const approved = { action: 'accept', content: { decision: 'approve' } }
      const told = await answer(5000, result.requestState, { [key]: approved })
      expect(told.result.content[0].text).toBe('paid 50')
      expect(paid).not.toContain(5000)
    })

    it('is not done once denied, or where nobody decides', async () => {
      for (const action of ['decline', 'cancel']) {
        const { result } = await served.call('pay', { amount: 70 }, asked)
        const [key = ''] = Object.keys(result.inputRequests)
        const told = await answer(70, result.requestState, { [key]: { action } })
        expect(told.result.isError).toBe(true)
      }
      expect(paid).not.toContain(70)
    })

    it('is told in words where no forms are shown', async () => {
      const { result } = await served.call('pay', { amount: 90 })
      expect(result.content[0].text).toContain('Approve `pay`')
      expect(paid).not.toContain(90)
    })
  })
})

describe('the support of tasks', () => {
  it('is that of all of them', async () => {
    const asked = { capabilities: TAKES_TASKS }
    const resultOf = async (taskSupport: 'forbidden' | 'required') => {
      const { call } = offering({ toolkits: [kitOf(multiply)], taskSupport })
      return (await call('multiply', { a: 2, b: 3 }, asked)).result
    }
    expect((await resultOf('forbidden')).resultType).toBe('complete')
    expect((await resultOf('required')).resultType).toBe('task')
    const { call } = offering({ toolkits: [kitOf(multiply)], taskSupport: 'required' })
    const { status, error } = await call('multiply', { a: 2, b: 3 })
    expect([status, error.code]).toEqual([400, -32021])
    expect(error.data.requiredCapabilities).toEqual(TAKES_TASKS)
  })
})
