import { goTo } from '../route.ts'
import { type Filters, queryOf } from './filters.ts'

/** Goes to the list of runs with these filters. */
export function to(filters: Filters): void {
  goTo('runs', [], queryOf(filters))
}
