import type { Pages } from '../pages.ts'
import { Failure } from './notice.tsx'

/** The end of a paged list: its error, a text if it is empty, and a button for the next page. */
export function More({
  pages: { items, nextCursor, error, isLoading, more },
  none,
  absent,
  label = 'Load more',
}: {
  pages: Pages<unknown>
  /** The text for an empty list. */
  none: string
  /** The text if the service does not have the list. */
  absent: string
  label?: string
}) {
  return (
    <>
      {error !== undefined && <Failure error={error} absent={absent} />}
      {isLoading && items.length === 0 && <p aria-busy="true">Loading…</p>}
      {!isLoading && error === undefined && items.length === 0 && <p>{none}</p>}
      {nextCursor !== null && (
        <button type="button" disabled={isLoading} onClick={more}>
          {label}
        </button>
      )}
    </>
  )
}
