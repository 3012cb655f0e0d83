import type { ComponentChildren } from 'preact'
import type { Pages } from '../pages.ts'
import { linkTo, route } from '../route.ts'
import { visible } from '../text.ts'
import { type Acting, Action, useActing } from './action.tsx'
import { Ago } from './ago.tsx'
import { useDialogs } from './dialog.tsx'
import { Heading } from './heading.tsx'
import { Heads } from './heads.tsx'
import { Menu } from './menu.tsx'
import { More } from './more.tsx'
import { Failure } from './notice.tsx'
import { Panes } from './panes.tsx'
import { Status } from './status.tsx'

/** Opens a dialog. It gets the function that closes it. */
export type Ask = (dialog: (close: () => void) => ComponentChildren) => void

/** What can be done with a thing. A title that ends with `…` opens a dialog first. */
export interface Act {
  readonly title: string
  readonly work?: () => Promise<unknown>
  readonly ask?: (close: () => void) => ComponentChildren
}

/** How a thing looks in the list. */
export interface Row {
  readonly id: string
  readonly name: string
  readonly status: string
  /** What else tells it from the others, such as its owner. */
  readonly about: string
  /** When it was used last (ISO 8601). Null: never. */
  readonly at?: string | null | undefined
  /** When it is due next. */
  readonly due?: string | null | undefined
}

/** What a screen manages. */
export interface Managing<T> {
  /** The name of the screen. */
  readonly title: string
  readonly pages: Pages<T>
  /** What the things are for, in a sentence. */
  readonly what: string
  /** The titles of the columns: the name, what tells it from others, and the time. */
  readonly heads: readonly [name: string, about: string, at: string]
  readonly row: (item: T) => Row
  readonly acts?: (item: T, ask: Ask) => readonly Act[]
  /** More of one, beside the list. */
  readonly detail: (item: T) => ComponentChildren
  /** Makes a new one. */
  readonly make?: (ask: Ask) => Act
  /** What stands above the list, such as a filter. */
  readonly above?: ComponentChildren
  readonly none: string
  readonly absent: string
}

/** A list of things that are managed, each with its state and its acts, and one of them beside it. */
export function Managed<T>({ of }: { of: Managing<T> }) {
  const { title, pages, detail, row } = of
  const { screen, path } = route.value
  const [chosen] = path
  const acting = useActing()
  const { shown, ask } = useDialogs()
  const item = pages.items.find(each => row(each).id === chosen)
  const isOpen = chosen !== undefined && (item !== undefined || !pages.isLoading)
  return (
    <>
      <Panes all={title} list={<List of={of} acting={acting} ask={ask} chosen={chosen} />}>
        {isOpen &&
          (item === undefined ? (
            <p>This is not in the list. It may have been deleted, or be further down: choose “Load more”.</p>
          ) : (
            <div class="thing" key={`${screen} ${chosen}`}>
              <Status status={row(item).status} />
              <Heading>{visible(row(item).name)}</Heading>
              {of.acts && <Acts acts={of.acts(item, ask)} acting={acting} ask={ask} />}
              {acting.error !== undefined && <Failure error={acting.error} />}
              {detail(item)}
            </div>
          ))}
      </Panes>
      {shown}
    </>
  )
}

interface Parts {
  readonly acting: Acting
  readonly ask: Ask
}

function List<T>({ of, acting, ask, chosen }: Parts & { of: Managing<T>; chosen: string | undefined }) {
  const { title, what, pages, heads, row, acts, make, above, none, absent } = of
  const { screen, query } = route.value
  const given = Object.fromEntries(query)
  const first = make?.(ask)
  return (
    <>
      <div class="bar">
        <div class="top">
          <h1 tabIndex={-1}>{title}</h1>
          <span class="actions push">
            <button type="button" class="quiet" onClick={pages.reload}>
              Refresh
            </button>
            {first && (
              <button type="button" class="main" onClick={() => first.ask && ask(first.ask)}>
                {first.title}
              </button>
            )}
          </span>
        </div>
        <p class="soft">{what}</p>
        {above}
      </div>
      {chosen === undefined && acting.error !== undefined && <Failure error={acting.error} />}
      {pages.items.length > 0 && (
        <table class="list managed">
          <Heads
            of={[
              [heads[0]],
              ['State', 'state'],
              [heads[1], 'about'],
              [heads[2], 'number at'],
              ...(acts ? [['Actions', 'acts'] as const] : []),
            ]}
          />
          <tbody>
            {pages.items.map(item => {
              const { id, name, status, about, at, due } = row(item)
              return (
                <tr key={id}>
                  <td>
                    <a href={linkTo(screen, [id], given)} aria-current={id === chosen || undefined}>
                      {visible(name)}
                    </a>
                  </td>
                  <td class="state">
                    <Status status={status} />
                  </td>
                  <td class="about soft">{visible(about)}</td>
                  <td class="number at soft">
                    {due ? <Ago at={due} isDue /> : at ? <Ago at={at} /> : at === null ? 'never' : '–'}
                  </td>
                  {acts && (
                    <td class="acts">
                      <Acts acts={acts(item, ask)} acting={acting} ask={ask} of={visible(name)} />
                    </td>
                  )}
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      <More pages={pages} none={none} absent={absent} />
    </>
  )
}

/** Acts as buttons, or in a menu of a line, which `of` names. */
function Acts({ acts, acting, ask, of }: Parts & { acts: readonly Act[]; of?: string }) {
  if (acts.length === 0) return null
  const buttons = acts.map(({ title, work, ask: dialog }) =>
    work ? (
      <Action key={title} acting={acting} work={work}>
        {title}
      </Action>
    ) : (
      <button key={title} type="button" onClick={() => dialog && ask(dialog)}>
        {title}
      </button>
    ),
  )
  return of === undefined ? (
    <p class="actions">{buttons}</p>
  ) : (
    <Menu title="Actions" of={of}>
      {buttons}
    </Menu>
  )
}
