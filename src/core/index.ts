/**
 * The core of a service: runs, streams, stored runs, sessions, discovery, health. Everything else is a plugin.
 *
 * @module
 */

export type { Description } from './description.ts'
export { createHandler, type Handler } from './handler.ts'
export type { Calls } from './kept.ts'
export type { CoreOptions, LimitOptions, RunsOptions, State } from './options.ts'
export type { Place } from './place.ts'
export type { Mounted, Plugin, PluginCore, PluginRoute } from './plugin.ts'
export type { KeptDocument, KeptQuery, KeptReader, KeptWriter, PluginTransactions } from './plugin-store.ts'
