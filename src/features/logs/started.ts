/**
 * The entry at the start of a service: the served targets, who may call, where state is stored, and options to consider for a
 * deployment.
 *
 * @module
 */

import { KINDS } from '../../agents/registry.ts'
import type { Core } from '../../core/built-in.ts'
import type { LogEntry } from '../../http/log.ts'
import { credentialOf } from '../../http/security/credential.ts'
import { VERSION } from '../../http/version.ts'
import { nameIn } from './runs.ts'

/** Most names of a kind. */
const MAX_NAMES = 20

/** The entry `service.started`. `url` is the server's address, if it has one. */
export function startedEntry(core: Core, url?: string): LogEntry {
  const { settings, prefix, mounted } = core
  return {
    level: 'info',
    channel: 'service',
    event: 'service.started',
    version: VERSION,
    url: url === undefined ? prefix : url + prefix,
    production: settings.production,
    serves: servedBy(core),
    // A plugin that only provides JSON Schemas serves nothing.
    parts: mounted.flatMap(({ name, plugin }) => (plugin.toJsonSchema === undefined ? [name] : [])),
    access: accessOf(core),
    state: stateOf(core),
    missing: missingIn(core),
  }
}

/** Names by kind: `agents echo, writer`. */
function servedBy({ catalog }: Core): string[] {
  return KINDS.flatMap(kind => {
    const names = catalog.entries(kind).map(({ name }) => nameIn(name))
    if (names.length === 0) return []
    const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : ''
    return [`${kind}${names.length === 1 ? '' : 's'} ${names.slice(0, MAX_NAMES).join(', ')}${more}`]
  })
}

/** Who may call. */
function accessOf({ settings: { middleware }, locals }: Core): string {
  const names = middleware.flatMap(each => credentialOf(each)?.name ?? [])
  if (names.length > 0) return `whoever has a credential (${names.join(', ')})`
  const others = middleware.length > 0 ? 'whoever your middleware lets in' : 'everyone'
  return locals.identify ? `${others}. Whoever is on this machine is \`local\`, an administrator` : others
}

/** Where state is stored. */
function stateOf({ settings: { state } }: Core): string {
  if (state.kind === 'none') return 'none: no run is stored'
  if (state.kind === 'hosted') return 'objects'
  if (state.isVolatile)
    return 'memory: a restart loses every run and session. `sqliteState` of `servable/sqlite` keeps them'
  return state.store.isShared
    ? 'a database that other processes may share'
    : 'a database of this service alone'
}

/** Missing features, as the names of the options that turn them on. */
function missingIn({ settings, mounted, addressOf }: Core): string[] {
  const has = (plugin: string) => mounted.some(({ name }) => name === plugin)
  const { middleware, state } = settings
  const off: readonly (readonly [boolean, string])[] = [
    [middleware.length === 0, 'authentication (`middleware`)'],
    [state.kind === 'local' && state.isVolatile === true, 'lasting state (`state`)'],
    [!has('rateLimit'), 'a rate limit (`rateLimit`)'],
    [addressOf === undefined, 'clients behind a proxy (`trustProxy`)'],
    [!has('metrics'), 'metrics (`metricsExporter`)'],
  ]
  return off.flatMap(([isOff, name]) => (isOff ? [name] : []))
}
