import type { AgentMetrics, MetricsJson } from '../metrics/json.ts'
import type { LiveEvent } from '../metrics/live.ts'
import type { CallOptions } from './options.ts'
import { reconnect } from './reconnect.ts'
import { queryOf } from './runs.ts'
import { linkSignal } from './signal.ts'
import type { Transport } from './transport.ts'
import { createTries } from './tries.ts'

/** What happened, or how many events this viewer was too slow for. */
export type MetricsEvent =
  | LiveEvent
  | { readonly type: 'dropped'; readonly timestamp: string; readonly data: { readonly count: number } }

/** What the service counts, where it has metrics. */
export interface MetricsClient {
  /** The metrics of all, or of one agent; `agent_not_found` for a name that is not known. */
  json(options?: CallOptions): Promise<MetricsJson>
  json(agent: string, options?: CallOptions): Promise<AgentMetrics>
  /**
   * What happens, as it happens, until the loop is left. A lost connection is taken up again; what happened meanwhile is not
   * told.
   */
  stream(options?: CallOptions): AsyncIterableIterator<MetricsEvent>
}

/** The part of a client that is about metrics. */
export function createMetrics(transport: Transport): MetricsClient {
  function json(options?: CallOptions): Promise<MetricsJson>
  function json(agent: string, options?: CallOptions): Promise<AgentMetrics>
  function json(first?: string | CallOptions, second?: CallOptions): Promise<MetricsJson | AgentMetrics> {
    const [agent, options] = typeof first === 'string' ? [first, second] : [undefined, first]
    return transport.ask({ method: 'GET', path: `/metrics/json${queryOf({ agent })}`, options })
  }
  return { json, stream: (options = {}) => createFeed(transport, options) }
}

const LEFT = Symbol('left')

function createFeed(transport: Transport, options: CallOptions): AsyncIterableIterator<MetricsEvent> {
  const left = new AbortController()
  const events = feed(transport, options, left.signal)
  return {
    next: () => events.next(),
    return() {
      left.abort(LEFT)
      return events.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* feed(
  transport: Transport,
  options: CallOptions,
  left: AbortSignal,
): AsyncGenerator<MetricsEvent, void> {
  const { settings } = transport
  const link = linkSignal(options)
  const { signal } = link
  left.addEventListener('abort', () => link.leave(LEFT))
  const tries = createTries(settings, signal)
  const open = () => transport.send({ method: 'GET', path: '/metrics/stream', options }, signal)
  try {
    for await (const { data } of reconnect({ open, settings, signal, tries })) {
      tries.progress()
      yield JSON.parse(data) as MetricsEvent
    }
  } catch (error) {
    if (error !== LEFT) throw error
  } finally {
    link.unlink()
  }
}
