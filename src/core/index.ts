/**
 * The core of a service: runs, streams, stored runs, sessions, discovery, health. Everything else is a plugin.
 *
 * @module
 */

export { corrections } from '../plugins/corrections.ts'
export { cors } from '../plugins/cors.ts'
export { rateLimit } from '../plugins/rate-limit.ts'
export { trustProxy } from '../plugins/trust-proxy.ts'
export { uploads } from '../plugins/uploads.ts'
export type { Description } from './description.ts'
export { createHandler, type Handler } from './handler.ts'
export type { Calls } from './kept.ts'
export type { CoreOptions, LimitOptions, RunsOptions, State } from './options.ts'
export type { Place } from './place.ts'
export type { Mounted, Plugin, PluginCore, PluginRoute } from './plugin.ts'
export {
  type Keeping,
  type KeptDocument,
  type KeptQuery,
  type KeptReader,
  type KeptWriter,
  keeping,
  type PluginTransactions,
} from './plugin-store.ts'
