import type { Pages } from '../pages.ts'
import { Empty } from './empty.tsx'
import { Failure } from './notice.tsx'
import { Loading } from './page.tsx'

/** The end of a paged list: its error, a text if it is empty, and a button for the next page. */
export function More({
  pages: { items, nextCursor, error, isLoading, more },
  none,
  absent,
  command,
  label = 'Load more',
}: {
  pages: Pick<Pages<unknown>, 'items' | 'nextCursor' | 'error' | 'isLoading' | 'more'>
  /** The text for an empty list. */
  none: string
  /** The text if the service does not have the list. */
  absent: string
  /** A command that fills the list. */
  command?: string | undefined
  label?: string
}) {
  return (
    <>
      {error !== undefined && <Failure error={error} absent={absent} />}
      {isLoading && items.length === 0 && <Loading />}
      {!isLoading && error === undefined && items.length === 0 && <Empty command={command}>{none}</Empty>}
      {nextCursor !== null && (
        <button type="button" class="more" disabled={isLoading} onClick={more}>
          {label}
        </button>
      )}
    </>
  )
}
