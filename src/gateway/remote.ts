import type { HostedState } from '../core/hosted.ts'
import { queryOf } from '../http/router.ts'
import { forwarded } from './forwarded.ts'
import type { GatewayFetch } from './routes.ts'

/**
 * Sends requests of the event socket to one of so many objects: new clients to any, others to the one that has theirs. Throws
 * `invalid_options` where there can be none.
 */
export function forwardToObjects(state: Pick<HostedState, 'countOf' | 'forward'>): GatewayFetch {
  const send = state.forward('gateway')
  const shards = state.countOf('gateway')
  return (request, platform) => {
    const shard = shardOf(request, shards)
    return send(`gateway:${shard}`, forwarded(request, platform, shard))
  }
}

/** The object of a session stands before the first dot of its id. What was never given out leads to any. */
function shardOf(request: Request, shards: number): string {
  const query = queryOf(request.url)
  const sid = (query.has('EIO') && query.get('sid')) || ''
  const [, named] = /^(\d{1,4})\./.exec(sid) ?? []
  if (named !== undefined && Number(named) < shards) return String(Number(named))
  return String(Math.floor(Math.random() * shards))
}
