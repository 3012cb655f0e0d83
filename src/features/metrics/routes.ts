/**
 * `GET /metrics`, `/metrics/json` and `/metrics/stream`.
 *
 * @module
 */

import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import type { Catalog } from '../../http/catalog.ts'
import type { Endpoint, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { identifyBy } from '../../http/security/authentication.ts'
import { hasRight } from '../../http/security/gate.ts'
import { openToRole } from '../../http/security/open-to-role.ts'
import { jsonReply, Reply, sseReply } from '../../web/reply.ts'
import { isResponse } from '../../web/response.ts'
import { pulled, SSE_HEADERS } from '../../web/sse.ts'
import type { MetricsExporter } from './exporter.ts'
import { toHistoryJson } from './history.ts'
import { metricsOf, toMetricsJson } from './json.ts'
import { sseOfViewer } from './live.ts'
import { CONTENT_TYPES, type TextFormat, toPrometheus } from './prometheus.ts'
import { inOrder, keyOf, type MetricsSnapshot, Stats } from './stats.ts'

/** Metrics must not be cached. */
const NO_STORE = { 'cache-control': 'no-store' }

const NO_HISTORY = 'The last hour is not kept: set `history: true` of the `MetricsExporter`'

/** The routes of an exporter. */
export function metricsRoutes(prefix: string, exporter: MetricsExporter, catalog: Catalog): Route[] {
  const { core, authenticate } = exporter
  const snapshot = async () => withServed(await core.snapshot(), catalog)
  const route = (suffix: string, answer: Endpoint): Route => ({
    method: 'GET',
    path: joinPath(prefix, 'metrics', suffix),
    part: 'metrics',
    decidesItself: authenticate !== undefined,
    endpoint: async (request, state) => {
      if (authenticate === undefined) return answer(request, state)
      if (hasRight(state, 'metrics', true)) return openToRole(state.respond(await answer(request, state)))
      const scraper = await identifyBy(authenticate, request, state)
      return isResponse(scraper) ? scraper : answer(request, state)
    },
  })
  return [
    route('', async request => {
      const format = formatOf(request)
      const text = toPrometheus(await snapshot(), format)
      return new Reply(text, {
        headers: { ...NO_STORE, 'content-type': CONTENT_TYPES[format], vary: 'accept' },
      })
    }),
    route('json', async request => {
      const agent = queryOf(request.url).get('agent')
      const now = await snapshot()
      if (agent === null) return jsonReply(toMetricsJson(now), { headers: NO_STORE })
      const counted = now.counted.find(({ kind, name }) => kind === 'agent' && name === agent)
      if (counted === undefined) {
        throw new ServableError(
          'agent_not_found',
          `There are no metrics of an agent named \`${agent.slice(0, 100)}\``,
        )
      }
      return jsonReply(metricsOf(counted), { headers: NO_STORE })
    }),
    route('history', async () => {
      const steps = await core.history()
      if (steps === undefined) throw new ServableError('not_found', NO_HISTORY)
      return jsonReply(toHistoryJson(steps, Date.now()), { headers: NO_STORE })
    }),
    route('stream', async request => {
      if (request.method === 'HEAD') return new Response(null, { headers: SSE_HEADERS })
      core.checkRoom()
      return sseReply(pulled(sseOfViewer(() => core.watch())))
    }),
  ]
}

/** Adds served targets that have not run yet, so that a scraper sees their series begin at 0. */
function withServed(snapshot: MetricsSnapshot, catalog: Catalog): MetricsSnapshot {
  const known = new Set(snapshot.counted.map(({ kind, name }) => keyOf(kind, name)))
  const idle = KINDS.flatMap(kind =>
    catalog
      .entries(kind)
      .filter(({ name }) => !known.has(keyOf(kind, name)))
      .map(({ name }) => ({ kind, name, stats: new Stats(), active: 0 })),
  )
  return { ...snapshot, counted: inOrder([...snapshot.counted, ...idle]) }
}

/** The format that the scraper prefers (RFC 9110, section 12.5.1). OpenMetrics if it has no preference. */
function formatOf(request: Request): TextFormat {
  const accept = request.headers.get('accept') ?? ''
  const weights = accept.split(',').map(part => {
    const [type = '', ...parameters] = part.split(';').map(each => each.trim().toLowerCase())
    const weight = parameters.find(each => each.startsWith('q='))?.slice(2)
    return { type, weight: weight === undefined ? 1 : Number(weight) }
  })
  const weightOf = (...types: string[]) =>
    Math.max(0, ...weights.filter(({ type }) => types.includes(type)).map(({ weight }) => weight))
  const openMetrics = weightOf('application/openmetrics-text')
  return openMetrics > 0 && openMetrics >= weightOf('text/plain') ? 'openmetrics' : 'prometheus'
}
