import type { BudgetState } from '../../src/features/budgets/routes.ts'
import { askAsAdmin } from '../admin/ask.ts'
import { ofAdmin } from '../admin/token.ts'
import { ForgetToken, TokenForm } from '../admin/token-form.tsx'
import { usePages } from '../pages.ts'
import { Facts } from '../parts/facts.tsx'
import { More } from '../parts/more.tsx'
import { Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { config } from '../service.ts'
import { money, number, visible } from '../text.ts'

const ABSENT = 'The service has no budgets. Give it the plugin `budgets(…)` of `servable/budgets`.'

/** The spending of each budget. An administrator sees all keys. */
export function Budgets() {
  return (
    <>
      <h1 tabIndex={-1}>Budgets</h1>
      <Shown />
    </>
  )
}

function Shown() {
  if (!config.value.plugins.includes('budgets')) return <Notice>{ABSENT}</Notice>
  return !ofAdmin.isOpen('budgets') ? <TokenForm what="Budgets" label="Administration" /> : <List />
}

function List() {
  const pages = usePages('', async (cursor, signal) => {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`
    const page = await askAsAdmin<{ budgets: BudgetState[]; nextCursor: string | null }>(
      `/budgets/all${query}`,
      { signal },
    )
    return { items: page.budgets, nextCursor: page.nextCursor }
  })
  return (
    <>
      <ForgetToken />
      <ul class="cards">
        {pages.items.map(each => (
          <li key={`${each.name} ${each.key}`} class="card">
            <Card budget={each} />
          </li>
        ))}
      </ul>
      <More pages={pages} none="Nothing was spent yet." absent={ABSENT} />
    </>
  )
}

function Card({ budget }: { budget: BudgetState }) {
  const {
    name,
    key = '',
    resetAt,
    maxCostUsd,
    spentUsd,
    heldUsd,
    maxTokens,
    spentTokens,
    heldTokens,
  } = budget
  return (
    <>
      <h2>{`${name}: ${visible(key)}`}</h2>
      <Bar what="Cost" spent={spentUsd} held={heldUsd} max={maxCostUsd} write={money} />
      <Bar what="Tokens" spent={spentTokens} held={heldTokens} max={maxTokens} write={number} />
      <Facts facts={{ 'Begins again': <Time at={resetAt} /> }} />
    </>
  )
}

interface BarOf {
  readonly what: string
  readonly spent: number | undefined
  readonly held: number | undefined
  readonly max: number | undefined
  readonly write: (value: number) => string
}

function Bar({ what, spent = 0, held = 0, max, write }: BarOf) {
  if (max === undefined) return null
  return (
    <label>
      {`${what}: ${write(spent)} of ${write(max)}${held > 0 ? `, and ${write(held)} held` : ''} `}
      <meter min={0} max={max} high={max * 0.8} value={Math.min(spent + held, max)} />
    </label>
  )
}
