// Asks one object again and again, and answers how many milliseconds that took.
import { env } from 'cloudflare:workers'
import type { HandlerOptions } from '../../src/index.ts'
import { MetricsExporter } from '../../src/index.ts'
import { ToolServerManager } from '../../src/mcp-client/index.ts'
import type { StoredRun } from '../../src/runs/record.ts'
import type { IndexStub, MetricsStub } from '../../src/runtimes/cloudflare/bindings.ts'
import type { ObjectNamespace } from '../../src/runtimes/cloudflare/platform.ts'
import { durableObjects, durableState } from '../../src/runtimes/cloudflare.ts'
import { many } from './agents.ts'

const options: HandlerOptions = {
  registry: false,
  production: true,
  agents: { many },
  state: durableState(),
  runs: { maxRunning: 1_000_000, maxRunningPerOwner: 1_000_000 },
  admin: { manager: new ToolServerManager({ register: false }), authenticate: () => undefined },
}

interface Bound {
  readonly SERVABLE_INDEX: ObjectNamespace<IndexStub>
  readonly SERVABLE_METRICS: ObjectNamespace<MetricsStub>
}

const AT_ONCE = 64

const { SERVABLE_INDEX, SERVABLE_METRICS } = env as unknown as Bound

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
async function listRun(index: IndexStub): Promise<void> {
  const run = newRun()
  await index.admit(run, 'anonymous', 1)
  const record = { ...run.record, status: 'completed' } as const
  await index.update({ ...run, record }, Date.now() + 86_400_000)
}

/** What is done, and how many calls that is. */
async function doing(
  what: string,
  round: string,
): Promise<[calls: number, once: (at: number) => Promise<unknown>]> {
  const index = SERVABLE_INDEX.getByName(what)
  switch (what) {
    case 'admit':
      return [2, () => listRun(index)]
    case 'admit-large':
    case 'list': {
      const listed = what === 'list' ? 1000 : 20_000
      if (round === '0') await repeated(listed, () => listRun(index))
      if (what === 'list') return [1, () => index.list(null, { limit: 50 })]
      return [2, () => listRun(index)]
    }
    case 'reserve': {
      const key = { id: 'key', fingerprint: 'same' }
      return [1, () => index.reserve(key, 'run', Date.now() + 86_400_000)]
    }
    case 'count':
      return [1, () => index.countRequest('client', 60_000)]
    case 'call':
      return [1, at => index.toolServers({ method: 'call', callId: `${at}`, name: 'none.tool', args: {} })]
    default: {
      const { core } = new MetricsExporter()
      const object = SERVABLE_METRICS.getByName(round)
      return [
        1,
        at => {
          const target = { kind: 'agent', name: 'many', servable: many } as const
          core.start(target, `${at}`).end({ type: 'finish', finishReason: 'stop' }, 20)
          return object.add('isolate', `isolate:${at + 1}`, core.take()!)
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
    // The clock of a Worker stands still between I/O, and goes on with each answer.
    const startedAt = Date.now()
    await repeated(Number(searchParams.get('calls')) / each, once)
    return new Response(String(Date.now() - startedAt))
  },
}

export const { ServableRun, ServableIndex, ServableMetrics } = durableObjects(createHandler(options))
