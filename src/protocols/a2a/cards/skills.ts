/**
 * What A2A offers as skills: agents by their names, teams and workflows as `team/desk` and `workflow/onboard`.
 *
 * @module
 */

import type { Kind } from '../../../agents/contract.ts'
import type { Catalog, CatalogEntry } from '../../../http/catalog.ts'
import type { Target } from '../../../runs/target.ts'

/** A servable by its kind and name. */
export type Skill = Pick<Target, 'kind' | 'name'>

/** The kinds, each with the first segment of its paths. */
export const KIND_PATHS: readonly (readonly [kind: Kind, segment: string])[] = [
  ['agent', 'agents'],
  ['team', 'teams'],
  ['workflow', 'workflows'],
]

/** The id of a skill on cards. */
export function skillId({ kind, name }: Skill): string {
  return kind === 'agent' ? name : `${kind}/${name}`
}

/** The path of a skill, below the base path. */
export function skillPath({ kind, name }: Skill): string {
  const segment = KIND_PATHS.find(([each]) => each === kind)?.[1] ?? 'agents'
  return `${segment}/${encodeURIComponent(name)}`
}

/** Returns the servable of an id. An agent of that very name takes precedence. */
export function findSkill(catalog: Pick<Catalog, 'find'>, id: string): Target | undefined {
  const [, kind, name = ''] = /^(team|workflow)\/(.+)$/s.exec(id) ?? []
  return catalog.find('agent', id) ?? (kind === undefined ? undefined : catalog.find(kind as Kind, name))
}

/** All skills of a catalog, agents first. */
export function skillsIn(catalog: Pick<Catalog, 'entries'>): readonly (CatalogEntry & Skill)[] {
  return KIND_PATHS.flatMap(([kind]) => catalog.entries(kind).map(entry => ({ ...entry, kind })))
}
