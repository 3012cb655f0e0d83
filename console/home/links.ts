/** Links from the first screen to the lists behind its numbers. */
import { linkTo, route } from '../route.ts'
import { config } from '../service.ts'

/** Everyone's runs, if the user may list them and the address does not say otherwise. */
export function ofWhom(): { readonly owner?: string } {
  return config.value.rights.includes('list') && route.value.query.get('owner') !== 'mine'
    ? { owner: '*' }
    : {}
}

/** The list of runs with these filters. */
export function runsLink(query: Readonly<Record<string, string>>): string {
  return linkTo('runs', [], { ...ofWhom(), ...query })
}
