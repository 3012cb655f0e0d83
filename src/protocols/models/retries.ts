/**
 * Whether a client may repeat a request that failed.
 *
 * @module
 */

/**
 * The headers of an error. The SDKs would send requests with 409 and 5xx twice more, and so start a failed run again. The header
 * tells them not to, unless the failure may pass soon.
 */
export function errorHeaders({ status, headers: given }: Response, code: string): Headers {
  const headers = new Headers(given)
  headers.set('content-type', 'application/json')
  const isBusy = (status === 429 || status === 503) && !/^(budget_exceeded|agent_paused)$/.test(code)
  const mayPass = isBusy || code === 'session_busy'
  if (!mayPass) headers.set('x-should-retry', 'false')
  return headers
}

/** Whether a code says that there is no such model. */
export function isNoModel(code: string): boolean {
  return /^(agent|team|workflow)_not_found$/.test(code)
}
