// Calls one object repeatedly, and answers with the time in milliseconds.

import { ToolServerManager } from '../../src/adapters/mcp-client/index.ts'
import { ignoring } from '../../src/base/errors.ts'
import { objectCalls } from '../../src/core/transaction-calls.ts'
import { createHandler, MetricsExporter } from '../../src/index.ts'
import type { StoredRun } from '../../src/runs/stored/record.ts'
import { RUN_INDEX, RUN_SERVICE } from '../../src/runtimes/cloudflare/run-index.ts'
import { durableObjects, durableState } from '../../src/runtimes/cloudflare.ts'
import { many } from './agents.ts'

const state = durableState()
const handler = createHandler({
  registry: false,
  production: true,
  agents: { many },
  state,
  admin: { manager: new ToolServerManager({ register: false }), authenticate: () => undefined },
  rateLimit: true,
  metricsExporter: new MetricsExporter(),
})

const AT_ONCE = 64

const bounds = { maxRunning: 1_000_000, maxRunningPerOwner: 1_000_000, timeoutMs: 600_000 }

const index = objectCalls((place, keeper) => state.reach('index', place, keeper), RUN_SERVICE, RUN_INDEX)

function newRun(): StoredRun {
  const now = new Date().toISOString()
  const id = crypto.randomUUID()
  return {
    record: { id, kind: 'agent', name: 'many', status: 'running', createdAt: now, updatedAt: now },
    owner: null,
    at: Date.now(),
    instance: 'bench',
    keyId: null,
  }
}

/** Lists a run and its end: two calls. */
async function listRun(place: string): Promise<void> {
  const run = newRun()
  await index.admit(place, run, 'anonymous', bounds)
  const record = { ...run.record, status: 'completed' } as const
  await index.update(place, { ...run, record }, Date.now() + 86_400_000)
}

/** The work to repeat, and its number of calls. */
async function doing(
  what: string,
  round: string,
): Promise<[calls: number, once: (at: number) => Promise<unknown>]> {
  switch (what) {
    case 'admit':
      return [2, () => listRun(what)]
    case 'admit-large':
    case 'list': {
      const listed = what === 'list' ? 1000 : 20_000
      if (round === '0') await repeated(listed, () => listRun(what))
      if (what === 'list') return [1, () => index.list(what, null, { limit: 50 })]
      return [2, () => listRun(what)]
    }
    case 'reserve': {
      const key = { id: 'key', fingerprint: 'same' }
      return [1, () => index.reserve(what, key, 'run', Date.now() + 86_400_000)]
    }
    case 'count': {
      const limit = { max: 1_000_000, windowMs: 60_000 }
      return [1, () => state.reach('index', what, 'rateLimit')('take', 'client', 1, limit)]
    }
    case 'call': {
      const ask = state.reach('index', what, 'admin')
      // No server has the tool.
      return [1, at => ask('call', `${at}`, 'none.tool', {}).catch(ignoring('tool_not_found'))]
    }
    default: {
      const { core } = new MetricsExporter()
      const ask = state.reach('metrics', round, 'metrics')
      return [
        1,
        at => {
          const target = { kind: 'agent', name: 'many', servable: many } as const
          core.start({ ...target, runId: `${at}` }).end({ type: 'finish', finishReason: 'stop' }, 20)
          return ask('add', 'isolate', `isolate:${at + 1}`, core.take())
        },
      ]
    }
  }
}

async function repeated(times: number, once: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const work = async () => {
    for (let at = next++; at < times; at = next++) await once(at)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const [each, once] = await doing(searchParams.get('what') ?? '', searchParams.get('round') ?? '')
    // A Worker's clock advances only with I/O, such as an answer.
    const startedAt = Date.now()
    await repeated(Number(searchParams.get('calls')) / each, once)
    return new Response(String(Date.now() - startedAt))
  },
}

export const { ServableRun, ServableIndex, ServableMetrics } = durableObjects(handler)
