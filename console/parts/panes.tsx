import type { ComponentChildren } from 'preact'
import { linkTo, route } from '../route.ts'

/** A list with a detail beside it. On a phone only one is shown. */
export function Panes({
  list,
  all,
  children,
}: {
  list: ComponentChildren
  /** The name of the list, such as "Runs". */
  all: string
  /** The detail, if an item is chosen. */
  children: ComponentChildren
}) {
  const { screen, query } = route.value
  const isOpen = Boolean(children)
  return (
    <div class={isOpen ? 'panes open' : 'panes'}>
      <section class="pane" aria-label={`${all}: list`}>
        {list}
      </section>
      {isOpen && (
        <section class="pane one" aria-label="Details">
          <a class="back" href={linkTo(screen, [], Object.fromEntries(query))}>
            ‹ {all}
          </a>
          {children}
        </section>
      )}
    </div>
  )
}
