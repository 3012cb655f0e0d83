/**
 * What is served, by names that protocols know: a bare name, or a kind and a name.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Catalog } from '../../http/catalog.ts'
import type { Target } from '../../runs/target.ts'

/** The servable of a bare name, an agent before all others, or of a kind and a name: `team/desk`. */
export function findNamed(catalog: Catalog, id: string): Target | undefined {
  return KINDS.map(kind => {
    const prefix = `${kind}/`
    return catalog.find(kind, id) ?? catalog.find(kind, id.startsWith(prefix) ? id.slice(prefix.length) : '')
  }).find(target => target)
}

/** The names of all: bare ones, and with the kind where another kind has the name before. */
export function namesOf(catalog: Catalog): string[] {
  const served = (kind: Kind) =>
    catalog
      .entries(kind)
      .map(({ name }) => (findNamed(catalog, name)?.kind === kind ? name : `${kind}/${name}`))
  return KINDS.flatMap(served)
}
