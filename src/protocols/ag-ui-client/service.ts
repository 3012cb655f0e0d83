/**
 * The runs at work of a thread, and their end, as the service of an agent knows them.
 *
 * @module
 */

import type { HttpAgent } from '@ag-ui/client'
import { AgUiError } from './reading.ts'

/** An agent of a service, and in whose name it is asked. */
export interface Service {
  /** The address of the service's routes. */
  readonly base: string
  readonly kind: string
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: HttpAgent['fetch']
}

const WAIT_MS = 10_000
/** Most runs of one thread that are stopped at once: a page of the list. */
const MAX_RUNS = 100

/** The service of an agent; undefined if its address is none of `agUi()`. */
export function serviceOf(agent: object, headers?: Readonly<Record<string, string>>): Service | undefined {
  const { url = '', fetch, headers: own = {} } = agent as Partial<HttpAgent>
  const [, base, kind, name] =
    /^([^?#]*)\/(agent|team|workflow)s\/([^/?#]+)\/ag-ui\/?(?:[?#]|$)/.exec(url) ?? []
  if (base === undefined || kind === undefined || name === undefined || fetch === undefined) return undefined
  return { base, kind, name: decodeURIComponent(name), headers: headers ?? { ...own }, fetch }
}

/** The ids of the runs of a thread that are at work or wait for it; undefined if the service lists none to this caller. */
export async function runsAtWork(service: Service, threadId: string): Promise<string[] | undefined> {
  const { kind, name } = service
  const query = new URLSearchParams({
    kind,
    name,
    sessionId: threadId,
    status: 'running',
    limit: `${MAX_RUNS}`,
  })
  const response = await ask(service, `/runs?${query}`, 'GET')
  if (response === undefined) return undefined
  const { runs } = (await response.json()) as { readonly runs: readonly { readonly id: string }[] }
  return runs.map(({ id }) => id)
}

/** Whether the service knows this run of the caller, and it has not ended before. */
export async function cancelRun(service: Service, id: string): Promise<boolean> {
  const response = await ask(service, `/runs/${encodeURIComponent(id)}/cancel`, 'POST')
  await response?.body?.cancel()
  return response !== undefined
}

/** Undefined for what is not there, or has ended. */
async function ask(
  { base, fetch, headers }: Service,
  path: string,
  method: string,
): Promise<Response | undefined> {
  const init = { method, headers, signal: AbortSignal.timeout(WAIT_MS) }
  const response = await fetch(base + path, init).catch(() => {
    throw new AgUiError('connection_lost', 'The service cannot be reached')
  })
  const { ok, status } = response
  if (ok) return response
  const text = await response.text()
  if (status === 404 || status === 409) return undefined
  throw new AgUiError('refused', text.slice(0, 1000) || `The service answered ${status}`, status)
}
