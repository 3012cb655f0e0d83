/** The plugins of the package. */
import { readFileSync } from 'node:fs'

const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly default: string }>>
}

/** The names by which a handler knows the plugins that have an entry of their own. */
export const PLUGINS: readonly string[] = [
  ...Object.keys(exports)
    .filter(entry => exports[entry]?.default.endsWith('/plugin.js'))
    .map(entry => entry.replace('./', '').replace('event-socket', 'eventSocket')),
  'tools',
  'audit-log',
]
