/**
 * What a kept response was asked with, as a list of items.
 *
 * @module
 */

import { ServableError } from '../../errors.ts'
import { idFor } from '../answers.ts'
import { idOf } from '../ids.ts'
import { answerItem, itemsOf, type Listed } from './items.ts'
import type { KeptResponse } from './kept.ts'

/** The items of the request itself, oldest first, without those of earlier responses. */
export function inputItemsOf({ record, asked, told }: KeptResponse): readonly Listed[] {
  const { options, input, continues } = asked
  const idAt = (at: number) => idOf('in', record.id, at)
  if (continues !== undefined) {
    const answered = continues.work.answered.filter(({ request }) =>
      request.id.startsWith(`${continues.from}/`),
    )
    return answered.map(({ request, answer }, at) => ({
      id: idAt(at),
      ...answerItem(idFor(continues.from, request), answer),
    }))
  }
  const { history = [] } = options
  const own = typeof told.input_items === 'number' ? told.input_items : 0
  return itemsOf([...history.slice(history.length - own), { role: 'user', content: input }], idAt)
}

/** Items of one page. */
const MAX_PAGE = 100
const DEFAULT_PAGE = 20

/** A page of a list: `limit` (1 to 100), `order` (`desc` or `asc`) and `after`. Throws `invalid_query`. */
export function pageOf(items: readonly Listed[], query: URLSearchParams): object {
  const limit = Number(query.get('limit') ?? DEFAULT_PAGE)
  const order = query.get('order') ?? 'desc'
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw new ServableError('invalid_query', `\`limit\` must be 1 to ${MAX_PAGE}`)
  if (order !== 'asc' && order !== 'desc')
    throw new ServableError('invalid_query', '`order` must be `asc` or `desc`')
  const all = order === 'asc' ? items : items.toReversed()
  const after = query.get('after')
  const first = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  const data = all.slice(first, first + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: first + limit < all.length,
  }
}
