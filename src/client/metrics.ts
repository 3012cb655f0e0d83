import type { MetricsHistory } from '../features/metrics/history.ts'
import type { AgentMetrics, MetricsJson } from '../features/metrics/json.ts'
import type { LiveEvent } from '../features/metrics/live.ts'
import { parseObject } from './body.ts'
import type { ClientCall, ClientCaller } from './call.ts'
import { invalidResponse } from './error.ts'
import type { CallOptions } from './options.ts'
import { leavable, reconnect } from './reconnect.ts'
import { queryOf } from './sent.ts'

/** An event, or the number of events that were dropped for a slow viewer. */
export type MetricsEvent =
  | LiveEvent
  | { readonly type: 'dropped'; readonly timestamp: string; readonly data: { readonly count: number } }

/** The metrics of the service, if it has any. */
export interface MetricsClient {
  /** The metrics of the whole service, or of one agent. Rejects with `agent_not_found` for an unknown name. */
  json(agent?: undefined, options?: CallOptions): Promise<MetricsJson>
  json(agent: string, options?: CallOptions): Promise<AgentMetrics>
  /** The last hour in 120 steps of 30 s, oldest first. Rejects with `not_found` if the service does not store it. */
  history(options?: CallOptions): Promise<MetricsHistory>
  /**
   * Yields events as they happen, until the loop is left. The stream continues after a lost connection, without the events in
   * between.
   */
  stream(options?: CallOptions): AsyncIterableIterator<MetricsEvent>
}

/** Makes the part of a client for metrics. */
export function createMetrics(caller: ClientCaller): MetricsClient {
  const ask = async (agent?: string, options?: CallOptions) =>
    caller.ask(`/metrics/json${queryOf({ agent })}`, options)
  return {
    json: ask as MetricsClient['json'],
    history: async options => caller.ask('/metrics/history', options),
    stream: options => leavable(caller.open, options, call => watch(call, '/metrics/stream')),
  }
}

/** The events of a stream that has no end, over several connections. */
export async function* watch<T>(call: ClientCall, path: string): AsyncGenerator<T, undefined> {
  const headers = { accept: 'text/event-stream' }
  try {
    for await (const { data } of reconnect(call, () => call.send(path, { headers }))) {
      const event = parseObject(data)
      if (!event) throw invalidResponse('The event is not JSON')
      call.tries.progress()
      // The type is the service's contract.
      yield event as T
    }
  } finally {
    call.unlink()
  }
}
