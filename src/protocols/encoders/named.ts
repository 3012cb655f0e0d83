/**
 * The names of servables in other protocols: a bare name, or a kind and a name.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Catalog } from '../../http/catalog.ts'
import type { Target } from '../../runs/target.ts'

/** Returns the servable of a bare name, agents first, or of a kind and a name: `team/desk`. */
export function findNamed(catalog: Catalog, id: string): Target | undefined {
  return KINDS.map(kind => {
    const prefix = `${kind}/`
    return catalog.find(kind, id) ?? catalog.find(kind, id.startsWith(prefix) ? id.slice(prefix.length) : '')
  }).find(target => target)
}

/** The names of all servables. A name that another kind already has gets its kind as a prefix. */
export function namesOf(catalog: Catalog): string[] {
  const served = (kind: Kind) =>
    catalog
      .entries(kind)
      .map(({ name }) => (findNamed(catalog, name)?.kind === kind ? name : `${kind}/${name}`))
  return KINDS.flatMap(served)
}
