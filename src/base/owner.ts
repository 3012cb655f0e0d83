/**
 * The owners of what is stored: the id of an identity, with its tenant before it.
 *
 * @module
 */

/** Between the tenant and the id of an owner. No id that other code gives has it. */
export const OF = '›'

/** The owner of a tenant with this id. Undefined stands for no tenant. */
export function ownerIn(tenant: string | undefined, id: string): string {
  return tenant === undefined ? id : tenant + OF + id
}

/** The tenant of an owner. Undefined for none. */
export function tenantOf(owner: string | null): string | undefined {
  const at = owner === null ? -1 : owner.indexOf(OF)
  return at === -1 ? undefined : owner?.slice(0, at)
}
