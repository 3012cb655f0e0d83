import type { GatewayFetch } from '../../gateway/routes.ts'
import { queryOf } from '../../http/router.ts'
import { findGateway } from './bindings.ts'
import { forwarded } from './forwarded.ts'

/** Sends requests of the event socket to one of so many objects: new clients to any, others to the one that has theirs. */
export function connectDurableGateway(shards: number): GatewayFetch {
  const objects = findGateway()
  return (request, platform) => {
    const shard = shardOf(request, shards)
    return objects.getByName(`gateway:${shard}`).fetch(forwarded(request, platform, shard))
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
