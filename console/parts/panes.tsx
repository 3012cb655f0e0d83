import type { ComponentChildren } from 'preact'
import { linkTo, place } from '../place.ts'

/** A list, and one thing of it beside it. On a phone there is one at a time. */
export function Panes({
  list,
  all,
  children,
}: {
  list: ComponentChildren
  /** The name of the list, such as "All runs". */
  all: string
  /** The thing, if one is chosen. */
  children: ComponentChildren
}) {
  const { screen, query } = place.value
  const isOpen = Boolean(children)
  return (
    <div class={isOpen ? 'panes open' : 'panes'}>
      <section class="pane" aria-label={all}>
        {list}
      </section>
      {isOpen && (
        <section class="pane" aria-label="The one that is chosen">
          <a class="back" href={linkTo(screen, [], Object.fromEntries(query))}>
            ← {all}
          </a>
          {children}
        </section>
      )}
    </div>
  )
}
