import { catalog } from '../catalog.ts'
import type { Pages } from '../pages.ts'
import { lookOf } from '../parts/look.ts'
import { Menu } from '../parts/menu.tsx'
import { Rated, wordOf } from '../parts/rating.tsx'
import { SearchField } from '../parts/search.tsx'
import { linkTo } from '../route.ts'
import { config } from '../service.ts'
import { number, visible } from '../text.ts'
import { FILTERS, type Filters, filtersOf, KINDS, queryOf, SPANS } from './filters.ts'
import { countsOf, type Listed, outliers, type Quick } from './numbers.ts'
import { to } from './to.ts'

/** The field that searches runs. */
export function Search({ filters: { search = '', ...rest } }: { filters: Filters }) {
  return (
    <SearchField
      value={search}
      label="Search runs"
      placeholder="Search input, output and errors"
      onSearch={typed => to(typed === '' ? rest : { ...rest, search: typed })}
    />
  )
}

/** Whose runs, of which agent, and of which time. What is rarer is behind "More". */
export function Choices({ filters }: { filters: Filters }) {
  const change = ({ currentTarget: form }: { readonly currentTarget: HTMLFormElement }) => {
    const typed = new FormData(form)
    const given = new URLSearchParams(queryOf(filters))
    for (const name of FILTERS) if (typed.has(name)) given.set(name, String(typed.get(name)).trim())
    const [kind = '', ...name] = String(typed.get('target') ?? '').split('/')
    given.set('kind', kind)
    given.set('name', name.join('/'))
    // A span and dates exclude each other: what was changed counts.
    if (given.get('last') && given.get('last') !== filters.last)
      for (const each of ['since', 'until']) given.delete(each)
    else if (given.get('since') || given.get('until')) given.delete('last')
    to(filtersOf(given))
  }
  const { kind = '', name = '', last = '', owner = '' } = filters
  const { targets } = catalog.value
  const target = kind || name ? `${kind}/${name}` : ''
  const isKnown = targets.some(each => `${each.kind}/${each.name}` === target)
  return (
    <form
      class="choices"
      aria-label="Filters"
      onChange={change}
      onSubmit={event => {
        event.preventDefault()
        change(event)
      }}
    >
      {config.value.rights.includes('list') && (
        <select name="owner" aria-label="Whose" value={owner}>
          <option value="">Mine</option>
          <option value="*">Everyone’s</option>
          {owner !== '' && owner !== '*' && <option value={owner}>{visible(owner)}</option>}
        </select>
      )}
      <select name="target" aria-label="Agent" value={target}>
        <option value="">Any agent</option>
        {KINDS.map(each => (
          <option key={each} value={`${each}/`}>{`Any ${each === 'agent' ? 'single agent' : each}`}</option>
        ))}
        {target !== '' && !isKnown && name !== '' && <option value={target}>{visible(name)}</option>}
        {targets.map(each => (
          <option key={`${each.kind}/${each.name}`} value={`${each.kind}/${each.name}`}>
            {visible(each.name)}
          </option>
        ))}
      </select>
      <select name="last" aria-label="Time" value={last}>
        <option value="">Any time</option>
        {Object.keys(SPANS).map(span => (
          <option key={span} value={span}>{`Last ${span}`}</option>
        ))}
      </select>
      <Menu title="More">
        {hasFeedback() && (
          <label>
            Feedback
            <select name="feedback" value={filters.feedback ?? ''}>
              <option value="">With or without</option>
              <option value="any">With some</option>
              {(['positive', 'negative', 'neutral'] as const).map(each => (
                <option key={each} value={each}>
                  {wordOf(each)}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Session
          <input name="sessionId" value={filters.sessionId ?? ''} />
        </label>
        <label>
          From
          <input type="datetime-local" name="since" value={filters.since ?? ''} />
        </label>
        <label>
          To
          <input type="datetime-local" name="until" value={filters.until ?? ''} />
        </label>
      </Menu>
    </form>
  )
}

/** Whether people can say what they think of runs. */
const hasFeedback = () => config.value.plugins.includes('sessions')

/** The quick choices by status. */
const BY_STATUS = ['failed', 'waiting', 'running', 'queued', 'completed', 'cancelled'] as const

/** What the runs that are slow and costly have in common. */
const WHY: Readonly<Record<Quick, string>> = {
  slow: 'Took more than three times as long as half of these runs',
  costly: 'Cost more than three times as much as half of these runs',
}

/** Quick choices. Each has an address, and tells how many runs it has where all of them are known. */
export function Chips({ filters, pages: { items, nextCursor } }: { filters: Filters; pages: Pages<Listed> }) {
  const { status, quick, feedback, ...rest } = filters
  const isAll = status === undefined && feedback === undefined
  const counts = countsOf(items)
  const plus = nextCursor === null ? '' : '+'
  const count = (value: number) => isAll && value > 0 && <b>{number(value) + plus}</b>
  const { sort: _, owner: __, ...narrowed } = filters
  return (
    <nav class="chips" aria-label="Quick filters">
      <Chip to={rest} isOn={isAll && quick === undefined}>
        All
      </Chip>
      {BY_STATUS.map(each => {
        const { word, shape } = lookOf(each === 'waiting' ? 'input_required' : each)
        const has = counts[each === 'waiting' ? 'input_required' : each] ?? 0
        if (each === 'queued' && has === 0 && status !== each) return null
        return (
          <Chip key={each} to={{ ...rest, status: each }} isOn={status === each}>
            <i class={`i ${shape}`} />
            {word} {count(has)}
          </Chip>
        )
      })}
      {hasFeedback() &&
        (['positive', 'negative'] as const).map(each => (
          <Chip
            key={each}
            to={{ ...rest, feedback: each }}
            isOn={feedback === each}
            title={`Feedback: ${wordOf(each)}`}
          >
            <Rated rating={each} isBeside />
            {wordOf(each)} {count(items.filter(run => run.feedback === each).length)}
          </Chip>
        ))}
      {(['slow', 'costly'] as const).map(each => (
        <Chip key={each} to={{ ...rest, quick: each }} isOn={quick === each} title={WHY[each]}>
          {each === 'slow' ? 'Slow' : 'Costly'} {count(outliers(items, each).length)}
        </Chip>
      ))}
      {Object.keys(narrowed).length > 0 && (
        <a
          class="chip clear"
          href={linkTo('runs', [], queryOf(filters.owner ? { owner: filters.owner } : {}))}
        >
          Clear
        </a>
      )}
    </nav>
  )
}

function Chip({
  to: filters,
  isOn,
  title,
  children,
}: {
  to: Filters
  isOn: boolean
  title?: string
  children: preact.ComponentChildren
}) {
  return (
    <a
      class="chip"
      href={linkTo('runs', [], queryOf(filters))}
      aria-current={isOn || undefined}
      title={title}
    >
      {children}
    </a>
  )
}
