/** Runs that nobody waits for: their answer is kept back by middleware, or their client left before they began. */

import { expect, it, vi } from 'vitest'
import { platform } from '../../src/http/platform.ts'
import { Agent, createHandler, MetricsExporter, type Middleware } from '../../src/index.ts'
import { eventually } from '../eventually.ts'
import { speaker } from '../support.ts'

const request = (path: string, body?: object) =>
  new Request(`http://127.0.0.1/api/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

it('a stream that is never written ends with its time-out, and is not counted as open', async () => {
  const swallow: Middleware = async ({ url }, _context, next) => {
    const response = await next()
    if (url.endsWith('/stream')) throw new Error('no')
    return response
  }
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: { echo: speaker('echo', 'x') },
    metricsExporter: new MetricsExporter(),
    runs: { timeoutMs: 100 },
    middleware: [swallow],
  })
  const unwritten = platform({ respond: () => new Response('not begun') })
  expect((await handler(request('agents/echo/stream', { input: 'x' }), unwritten)).status).toBe(500)
  const metrics = async () => (await handler(request('metrics'))).text()
  expect(await metrics()).toMatch(/^service_open_streams 0$/m)
  expect(await metrics()).toMatch(/^service_agent_runs_active\{.*"echo".*\} 1$/m)
  await eventually(async () =>
    expect(await metrics()).toMatch(/^service_agent_runs_active\{.*"echo".*\} 0$/m),
  )
})

it('a run whose client has left while middleware waited never calls its agent', async () => {
  const called = vi.fn(() => 'x')
  const slow: Middleware = async (_request, _context, next) => {
    await new Promise(resolve => setTimeout(resolve, 20))
    return next()
  }
  const agents = { watched: new Agent({ name: 'watched', register: false, run: called }) }
  const handler = createHandler({ registry: false, logger: false, agents, middleware: [slow] })
  const left = new Request(request('agents/watched/run', { input: 'x' }), { signal: AbortSignal.abort() })
  expect(await (await handler(left)).json()).toMatchObject({ finishReason: 'cancelled' })
  expect(called).not.toHaveBeenCalled()
})
