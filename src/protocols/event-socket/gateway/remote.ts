import type { HostedState } from '../../../core/hosted.ts'
import { queryOf } from '../../../http/router.ts'
import { forwarded } from './forwarded.ts'
import type { GatewayFetch } from './routes.ts'

/**
 * Sends requests of the event socket to a fixed number of objects. New clients go to any object, others to the object with
 * their session. Throws `invalid_options` if there are no such objects.
 */
export function forwardToObjects(state: Pick<HostedState, 'countOf' | 'forward'>): GatewayFetch {
  const send = state.forward('gateway')
  const shards = state.countOf('gateway')
  return (request, platform) => {
    const shard = shardOf(request, shards)
    return send(`gateway:${shard}`, forwarded(request, platform, shard))
  }
}

/** The number of the object is before the first dot of a session's id. An invalid id goes to any object. */
function shardOf(request: Request, shards: number): string {
  const query = queryOf(request.url)
  const sid = (query.has('EIO') && query.get('sid')) || ''
  const [, named] = /^(\d{1,4})\./.exec(sid) ?? []
  if (named !== undefined && Number(named) < shards) return String(Number(named))
  return String(Math.floor(Math.random() * shards))
}
