/**
 * The options of plugins that offer models, and how their routes are made.
 *
 * @module
 */

import * as v from 'valibot'
import type { PluginRoute, ToError } from '../../core-entry.ts'
import { isObject, joinPath, path } from '../encoders/index.ts'

/** Options of models. */
export interface ModelOptions {
  /** The path of all routes, whatever the handler's `prefix`. Default: `/v1`, of `anthropic()` `/anthropic`. */
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

/** Returns what makes the routes below a path, with the errors of a protocol. */
export function routesBelow(basePath: string, toError: ToError): MakeRoute {
  return (method, below, endpoint) => ({ method, path: joinPath(basePath, below), toError, endpoint })
}
