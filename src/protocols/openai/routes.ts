/**
 * Mounts what Chat Completions and Responses share: their base path, their errors, and the models.
 *
 * @module
 */

import * as v from 'valibot'
import type { Mounted, PluginCore, PluginRoute } from '../../core-entry.ts'
import { jsonReply } from '../../web/reply.ts'
import { isObject, joinPath, path } from '../encoders/index.ts'
import { completeChat } from './chat/endpoint.ts'
import { toError } from './errors.ts'
import { createModels, type Models } from './models.ts'

/** Options of models. */
export interface ModelOptions {
  /** The path of all routes, whatever the handler's `prefix`. Default: `/v1`. */
  readonly path?: string | undefined
  /**
   * The models on offer: names of servables, by the names that clients use: `{ 'gpt-5': 'helper', desk: 'team/desk' }`. Default:
   * all servables, by name. If an agent has the same name, a team or workflow is called `team/desk` or `workflow/desk`.
   */
  readonly models?: Readonly<Record<string, string>> | undefined
}

const names = v.custom<object>(
  value => isObject(value) && Object.values(value).every(name => typeof name === 'string'),
  'must be names by name',
)

/** The schemas of these options. */
export const modelOptions: v.ObjectEntries = {
  path: v.optional(path),
  models: v.optional(names),
}

/** Makes a route below the path of the plugin. */
export type MakeRoute = (
  method: PluginRoute['method'],
  path: string,
  endpoint: PluginRoute['endpoint'],
) => PluginRoute

/** Mounts the models, Chat Completions, and the routes of `more`. */
export function mountModels(
  core: PluginCore,
  { path: basePath = '/v1', models: named }: ModelOptions,
  more?: (models: Models, route: MakeRoute) => readonly PluginRoute[],
): Mounted {
  const models = createModels(core.catalog, named)
  const route: MakeRoute = (method, below, endpoint) => ({
    ...{ method, path: joinPath(basePath, below), toError, endpoint },
  })
  const routes = [
    route('GET', 'models', () => jsonReply({ object: 'list', data: models.list() })),
    route('GET', 'models/:id', (_, { params }) => jsonReply(models.get(params.id ?? ''))),
    route('POST', 'chat/completions', completeChat(core, models)),
    ...(more?.(models, route) ?? []),
  ]
  return { base: { path: basePath, toError }, routes, describe: build => build.routes(routes, 'OpenAI') }
}
