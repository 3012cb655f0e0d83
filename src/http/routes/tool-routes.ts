/**
 * `GET /tools` and `GET /tools/:name`. They exist if toolkits, named tools or a tool-server manager are given.
 *
 * @module
 */

import { jsonReply } from '../../web/reply.ts'
import type { Route } from '../context.ts'
import { joinPath } from '../router.ts'
import type { ToolCatalog } from '../tool-catalog.ts'

/** Makes the two routes under `prefix`. */
export function toolRoutes(prefix: string, tools: ToolCatalog): Route[] {
  const path = joinPath(prefix, 'tools')
  return [
    { method: 'GET', path, part: 'router', endpoint: async () => jsonReply(await tools.list()) },
    {
      method: 'GET',
      path: `${path}/:name`,
      part: 'router',
      endpoint: async (_, { params }) => jsonReply(await tools.get(params.name ?? '')),
    },
  ]
}
