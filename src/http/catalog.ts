/**
 * Finds the served agents, teams and workflows by kind and name. Explicit entries come first, then the registry, which is read on
 * every request.
 *
 * @module
 */

import type { Kind, Servable, ServableLike } from '../agents/contract.ts'
import {
  checkName,
  checkRunnable,
  checkServable,
  KINDS,
  type Registry,
  type RegistryNames,
} from '../agents/registry.ts'
import { type ErrorCode, ServableError } from '../base/errors.ts'
import type { Target } from '../runs/target.ts'

/** The sources of servables. */
export interface Sources {
  readonly agents?: Readonly<Record<string, unknown>> | undefined
  readonly teams?: Readonly<Record<string, unknown>> | undefined
  readonly workflows?: Readonly<Record<string, unknown>> | undefined
  /** A mixed list, classified by `kind`. */
  readonly serve?: readonly unknown[] | undefined
  /** Undefined if only explicit entries are served. */
  readonly registry: Registry | undefined
  /** The part of the service that must look its targets up, if they run elsewhere. */
  readonly scope?: Target['scope']
}

/** A servable with the name under which it is served. */
export interface CatalogEntry {
  readonly name: string
  readonly servable: ServableLike<Servable>
}

/** Finds servables. */
export interface Catalog {
  /** Returns the servable of that kind and name. Throws `agent_not_found`, `team_not_found` or `workflow_not_found`. */
  resolve(kind: Kind, name: string): Target
  /** Returns it, or undefined if there is none. */
  find(kind: Kind, name: string): Target | undefined
  /** All servables of a kind, explicit entries first. */
  entries(kind: Kind): CatalogEntry[]
  /** All names by kind. */
  names(): RegistryNames
}

const NOT_FOUND: Readonly<Record<Kind, ErrorCode>> = {
  agent: 'agent_not_found',
  team: 'team_not_found',
  workflow: 'workflow_not_found',
}

/** Collects the explicit entries. Throws `invalid_options` for one that cannot be served and for a name that is given twice. */
export function createCatalog(sources: Sources): Catalog {
  const explicit = collectExplicit(sources)
  const { registry, scope } = sources

  const entries = (kind: Kind): CatalogEntry[] => {
    const own = explicit.get(kind)!
    const registered = (registry?.all(kind) ?? []).filter(({ name }) => !own.has(name))
    return [...Array.from(own, ([name, servable]) => ({ name, servable })), ...registered.map(toEntry)]
  }
  const names = (kind: Kind) => entries(kind).map(({ name }) => name)

  const find: Catalog['find'] = (kind, name) => {
    const servable = explicit.get(kind)!.get(name) ?? registry?.get(kind, name)
    return servable && { kind, name, servable, ...(scope && { scope }) }
  }

  return {
    entries,
    find,
    names: () => ({ agents: names('agent'), teams: names('team'), workflows: names('workflow') }),
    resolve(kind, name) {
      const target = find(kind, name)
      if (target !== undefined) return target
      const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name
      throw new ServableError(NOT_FOUND[kind], `There is no ${kind} named \`${shown}\``)
    },
  }
}

function toEntry(servable: Servable): CatalogEntry {
  return { name: servable.name, servable }
}

type Explicit = ReadonlyMap<Kind, Map<string, ServableLike<Servable>>>

function collectExplicit(sources: Sources): Explicit {
  const explicit: Explicit = new Map(KINDS.map(kind => [kind, new Map()]))
  const add = (kind: Kind, name: string, servable: ServableLike<Servable>, where: string) => {
    const map = explicit.get(kind)!
    if (map.has(name))
      throw new ServableError('invalid_options', `${where}: there are two ${kind}s named \`${name}\``)
    map.set(name, servable)
  }
  for (const kind of KINDS) {
    for (const [name, servable] of Object.entries(sources[`${kind}s`] ?? {})) {
      const where = `\`${kind}s.${name}\``
      checkEntry(servable, kind, name, where)
      add(kind, name, servable, where)
    }
  }
  for (const [index, servable] of (sources.serve ?? []).entries()) {
    checkServable(servable, `\`serve[${index}]\``)
    add(servable.kind, servable.name, servable, `\`serve[${index}]\``)
  }
  return explicit
}

/** Checks an entry of a map. The key is the name, and the map decides the kind, so an entry of another kind is a mistake. */
function checkEntry(
  value: unknown,
  kind: Kind,
  name: string,
  where: string,
): asserts value is ServableLike<Servable> {
  checkName(name, where)
  checkRunnable(value, where)
  const { kind: own } = Object(value) as Partial<Servable>
  if (own === undefined || own === kind) return
  throw new ServableError('invalid_options', `${where} is a ${own}: move it to \`${own}s\``)
}
