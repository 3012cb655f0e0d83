/**
 * Mounts what Chat Completions and Responses share: their base path, their errors, and the models.
 *
 * @module
 */

import type { Mounted, PluginCore, PluginRoute } from '../../core-entry.ts'
import { jsonReply } from '../../web/reply.ts'
import { createModels, type Models } from '../models/offered.ts'
import { type MakeRoute, type ModelOptions, routesBelow } from '../models/options.ts'
import { completeChat } from './chat/endpoint.ts'
import { toError } from './errors.ts'
import { modelOf } from './models.ts'

/** Mounts the models, Chat Completions, and the routes of `more`. */
export function mountModels(
  core: PluginCore,
  { path: basePath = '/v1', models: named }: ModelOptions,
  more?: (models: Models, route: MakeRoute) => readonly PluginRoute[],
): Mounted {
  const models = createModels(core.catalog, named, modelOf)
  const route = routesBelow(basePath, toError)
  const routes = [
    route('GET', 'models', () => jsonReply({ object: 'list', data: models.list() })),
    route('GET', 'models/:id', (_, { params }) => jsonReply(models.get(params.id ?? ''))),
    route('POST', 'chat/completions', completeChat(core, models)),
    ...(more?.(models, route) ?? []),
  ]
  return { base: { path: basePath, toError }, routes, describe: build => build.routes(routes, 'OpenAI') }
}
