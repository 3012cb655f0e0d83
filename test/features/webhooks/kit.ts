/** Processes of a service on one store, and a receiver of their webhooks. */
import { createServer, type ServerResponse } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { localState } from '../../../src/core/local-state.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  type WebhookDelivery,
  type WebhooksOptions,
  webhooks,
} from '../../../src/features/webhooks/plugin.ts'
import { createHandler, type LogEntry } from '../../../src/index.ts'
import { beginLife } from '../../../src/runs/life.ts'
import { bound } from '../../../src/stores/bound.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'
import { listening } from '../../listening.ts'
import { speaker } from '../../support.ts'
import { watched } from '../sessions/service.ts'

export const secret = btoa('x'.repeat(32))

/** How the store of a process is: it throws, or its writes answer late. */
interface StoreState {
  isBroken: boolean
  readonly answers?: Promise<void>
}

/** A process of the service. */
export type Running = Awaited<ReturnType<Awaited<ReturnType<typeof delivering>>['enter']>>

/** A store and a receiver, for any number of processes. */
export async function delivering(options: WebhooksOptions = {}, kept = memoryStore() as unknown as Store) {
  const { store: inner, all } = watched(kept)
  const held = new Set<ServerResponse>()
  const receiver = { got: [] as string[], way: 'take' as 'take' | 'fail' | 'hold' }
  const server = createServer((request, response) => {
    receiver.got.push(String(request.headers['webhook-id']))
    if (receiver.way === 'hold') held.add(response)
    else response.writeHead(receiver.way === 'take' ? 200 : 500).end()
  })
  const { url, stop } = await listening(server)
  onTestFinished(stop)
  const costs = { commits: 0, rows: 0, failures: 0 }
  const logged: LogEntry[] = []
  const whole = { subscriptions: [{ id: 'crm', url: `${url}/?token=canary`, secret }], allow: ['127.0.0.1'] }
  return {
    url,
    receiver,
    costs,
    logged,
    all,
    /** Answers what the receiver has held, and all that comes. */
    release() {
      receiver.way = 'take'
      for (const response of held) response.writeHead(200).end()
    },
    /** Resolves once the process has looked for what is due. */
    async enter(more: WebhooksOptions = {}, state: StoreState = { isBroken: false }) {
      let writes = 0
      const store: Store = {
        ...inner,
        write: (work, patienceMs) => {
          if (state.isBroken) {
            costs.failures++
            throw new Error('no disk')
          }
          writes++
          const written = inner.write(tx => {
            const before = costs.rows
            const counted = bound(tx)
            const result = work({
              ...counted,
              put(...args) {
                costs.rows++
                counted.put(...args)
              },
              delete(...args) {
                costs.rows++
                counted.delete(...args)
              },
            })
            if (costs.rows > before) costs.commits++
            return result
          }, patienceMs)
          return state.answers === undefined ? written : state.answers.then(() => written)
        },
      }
      const handler = createHandler({
        agents: { echo: speaker('echo', 'said') },
        registry: false,
        state: localState({ store, retention: {}, isVolatile: false }),
        admin: { authenticate: () => ({ id: 'root' }) },
        plugins: [sessions(), webhooks({ ...whole, ...options, ...more })],
        logger: entry => void logged.push(entry),
      })
      const ask = (path: string, init?: RequestInit) =>
        handler(new Request(`http://127.0.0.1/api/${path}`, init))
      const close = await beginLife(handler)
      await eventually(() => expect(writes).toBeGreaterThan(0))
      return {
        ask,
        /** Sends a test. Gives the id of its delivery. */
        test: async (): Promise<string> =>
          (await (await ask('admin/webhooks/crm/test', jsonRequest({}))).json()).id,
        /** Those of the subscription `crm`. */
        deliveries: async (): Promise<WebhookDelivery[]> =>
          (await (await ask('admin/webhooks/crm/deliveries?limit=100')).json()).deliveries,
        /** It writes nothing any more. */
        die() {
          state.isBroken = true
        },
        close,
      }
    },
  }
}
