import { jsonResponse } from '../../web/response.ts'
import { joinPath, type Route } from '../router.ts'

/** `GET /health`: 200 while requests can be served, 503 while what keeps the state cannot be reached. */
export function healthRoute(prefix: string, isReady: () => boolean): Route {
  return {
    method: 'GET',
    path: joinPath(prefix, 'health'),
    part: 'health',
    endpoint() {
      const ready = isReady()
      const body = { status: ready ? 'ok' : 'unavailable', live: true, ready }
      return jsonResponse(body, { status: ready ? 200 : 503, headers: { 'cache-control': 'no-store' } })
    },
  }
}
