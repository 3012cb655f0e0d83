/**
 * Metrics as a plugin: the entry `servable/metrics`.
 *
 * Begin with `core.ts` (counts runs), then `prometheus.ts`. Counts are stored by `local-storage.ts` or, on
 * Workers, by `remote-storage.ts`. May import `core` and what is below it, and no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import { checkOptions, isFunction, record } from '../../base/schemas.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { logThrown } from '../../http/failure-log.ts'
import { joinPath } from '../../http/router.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import { costOf, isPrice, type ModelPrice, type Pricing } from '../../runs/pricing.ts'
import { NOTED } from './batches.ts'
import type { MetricsCore } from './core.ts'
import { describeMetrics } from './describe.ts'
import type { MetricsExporter } from './exporter.ts'
import { createLocalStorage } from './local-storage.ts'
import { createMetricsObject, METRICS_SERVICE } from './object.ts'
import { createRemoteStorage } from './remote-storage.ts'
import { metricsRoutes } from './routes.ts'
import { cleanCost, cleanParts } from './usage.ts'

export { MetricsExporter, type MetricsExporterOptions } from './exporter.ts'

const ExporterSchema: v.GenericSchema<unknown> = v.custom(
  value => isFunction(Object(value).attach),
  'must be a MetricsExporter',
)

const PricingSchema: v.GenericSchema<unknown> = v.pipe(
  record,
  v.record(
    v.string(),
    v.custom<ModelPrice>(isPrice, 'must be { prompt, completion } in USD for a million tokens'),
  ),
)

/** Checks prices. Throws `invalid_options`. */
function checkPricing(pricing: unknown): void {
  checkOptions('pricing', v.optional(PricingSchema), pricing)
}

/**
 * Counts every run, and serves the counts at `GET /metrics`, `/metrics/json` and `/metrics/stream`. `pricing` applies to models
 * for which the exporter has no price. Throws `invalid_options`.
 */
export function metrics(exporter: MetricsExporter, options: { readonly pricing?: Pricing } = {}): Plugin {
  return metricsAs('exporter', exporter, options.pricing)
}

/** The same plugin, with the name of an option for errors. */
export function metricsAs(option: string, exporter: MetricsExporter, pricing: Pricing | undefined): Plugin {
  checkOptions(option, ExporterSchema, exporter)
  checkPricing(pricing)
  const { core: counts, authenticate } = exporter
  return asPlugin({
    name: METRICS_SERVICE,
    objectServices: { metrics: createMetricsObject },
    observer: counts.pricedBy(pricing),
    observerInObject: counts.hurried(pricing),
    costOf: (usage, model) => cleanCost(counts.costOf({ model, pricing }, cleanParts(usage))),
    mount: core => ({
      routes: metricsRoutes(core.prefix, exporter, core.catalog),
      links: { metrics: joinPath(core.prefix, 'metrics') },
      describe: build => ({
        ...describeMetrics(build),
        ...(authenticate &&
          build.token(
            PART_SCHEMES.metrics,
            'Token of a scraper, for `authenticate` of the `metricsExporter`',
          )),
      }),
      begin() {
        connectStorage(counts, core)
        counts.socketCounts.add(() =>
          Array.from(core.sockets, size => size()).reduce((sum, size) => sum + size, 0),
        )
      },
      close: counts.flush,
    }),
  })
}

/** A plugin that counts nothing and only provides prices for the cost in run records. Throws `invalid_options`. */
export function pricingAlone(pricing: Pricing | undefined): Plugin | undefined {
  checkPricing(pricing)
  if (pricing === undefined) return undefined
  return asPlugin({
    name: 'pricing',
    costOf: (usage, model) => cleanCost(costOf(cleanParts(usage), model, [pricing])),
  })
}

/** Connects the storage for the handler's state. With state in memory, the exporter itself keeps the counts. */
function connectStorage(counts: MetricsCore, { settings: { state }, log, runs }: Core): void {
  const onError = (error: unknown) => logThrown(log, { event: 'metrics.failed' }, error)
  if (state.kind === 'hosted') counts.connect(each => createRemoteStorage(each, state, onError))
  else if (state.kind === 'local' && !state.isVolatile) {
    runs.alarm?.add(NOTED)
    counts.connect(each => createLocalStorage(each, state.store, onError))
  }
}
