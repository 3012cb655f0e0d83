import { ServableError } from '../../base/errors.ts'
import { jsonReply } from '../../web/reply.ts'
import type { Route } from '../context.ts'
import { joinPath, queryOf } from '../router.ts'
import { VERSION } from '../version.ts'

/** The scope of an identity that may see versions. */
const ADMIN = 'admin'

/**
 * `GET /health`: 200 while requests can be served, 503 while the state cannot be reached. `?versions` adds the versions of the
 * service and the runtime, for an identity with the scope `admin`; throws `forbidden` for all others.
 */
export function healthRoute(prefix: string, isReady: () => Promise<boolean>): Route {
  return {
    method: 'GET',
    path: joinPath(prefix, 'health'),
    part: 'health',
    async endpoint(request, { identity }) {
      const asksVersions = queryOf(request.url).has('versions')
      if (asksVersions && !identity?.scopes?.includes(ADMIN)) {
        throw new ServableError('forbidden', `\`versions\` needs an identity with the scope \`${ADMIN}\``)
      }
      const ready = await isReady()
      const body = {
        status: ready ? 'ok' : 'unavailable',
        live: true,
        ready,
        ...(asksVersions && {
          versions: { servable: VERSION, runtime: runtimeName() },
        }),
      }
      return jsonReply(body, { status: ready ? 200 : 503, headers: { 'cache-control': 'no-store' } })
    },
  }
}

/** The name of the runtime, as it reports itself (WinterTC Minimum Common API). */
function runtimeName(): string {
  return typeof navigator === 'undefined' ? 'unknown' : navigator.userAgent
}
