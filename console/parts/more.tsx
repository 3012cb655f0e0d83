import type { Pages } from '../pages.ts'
import { Failure } from './notice.tsx'

/** What is below a list of pages: why it cannot be loaded, that it is empty, and a button for the next page. */
export function More({
  pages: { items, nextCursor, error, isLoading, more },
  none,
  absent,
  label = 'Load more',
}: {
  pages: Pages<unknown>
  /** What is said where there is nothing. */
  none: string
  /** What is said where the service has no such list. */
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
