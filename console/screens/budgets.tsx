import type { BudgetState } from '../../src/features/budgets/routes.ts'
import { useListed } from '../admin/ask.ts'
import { ForAdmins } from '../admin/for-admins.tsx'
import { ForgetToken } from '../admin/token-form.tsx'
import { Facts } from '../parts/facts.tsx'
import { Managed } from '../parts/managed.tsx'
import { Time } from '../parts/time.tsx'
import { config } from '../service.ts'
import { money, number, visible } from '../text.ts'

const ABSENT = 'This service has no budgets. To add them, add the plugin `budgets(…)` of `servable/budgets`.'

/** The part of a budget from which on it is nearly used up. */
const NEARLY = 0.8

/** The spending of each budget, for administrators. */
export function Budgets() {
  const isThere = config.value.plugins.includes('budgets')
  return (
    <ForAdmins title="Budgets" right="budgets" isThere={isThere} absent={ABSENT}>
      <Opened />
    </ForAdmins>
  )
}

function Opened() {
  const pages = useListed<BudgetState>('budgets', '/budgets/all')
  return (
    <Managed
      of={{
        title: 'Budgets',
        what: 'How much may be spent in a period of time. The limits are set in the code of the service.',
        pages,
        heads: ['For', 'Spent', 'Begins again'],
        row: ({ name, key = '', resetAt, ...amounts }) => {
          const bars = barsOf(amounts)
          const share = Math.max(0, ...bars.map(({ spent, held, max }) => (spent + held) / max))
          return {
            id: `${name} ${key}`,
            name: key === '' ? name : key,
            status: share >= 1 ? 'used_up' : share >= NEARLY ? 'nearly_used' : 'within',
            about: bars
              .map(({ spent, max, write, unit }) => `${write(spent)} of ${write(max)}${unit}`)
              .join(', '),
            due: resetAt,
          }
        },
        detail: budget => <Details of={budget} />,
        above: <ForgetToken />,
        none: 'Nothing has been spent yet. A budget is listed after its first run.',
        absent: ABSENT,
      }}
    />
  )
}

interface Bar {
  readonly what: string
  readonly spent: number
  readonly held: number
  readonly max: number
  readonly write: (value: number) => string
  readonly unit: string
}

type Amounts = Omit<BudgetState, 'name' | 'key' | 'windowMs' | 'startsAt' | 'resetAt'>

/** What is limited of a budget. */
function barsOf({
  maxCostUsd,
  spentUsd = 0,
  heldUsd = 0,
  maxTokens,
  spentTokens = 0,
  heldTokens = 0,
}: Amounts): readonly Bar[] {
  const cost = { what: 'Cost', spent: spentUsd, held: heldUsd, max: maxCostUsd, write: money, unit: '' }
  const tokens = {
    ...{ what: 'Tokens', spent: spentTokens, held: heldTokens, max: maxTokens, write: number },
    unit: ' tokens',
  }
  return [cost, tokens].filter((bar): bar is Bar => bar.max !== undefined)
}

function Details({ of }: { of: BudgetState }) {
  const { name, key = '', startsAt, resetAt } = of
  return (
    <>
      {barsOf(of).map(({ what, spent, held, max, write }) => (
        <label key={what} class="field">
          {`${what}: ${write(spent)} of ${write(max)} spent${held > 0 ? `, ${write(held)} set aside for runs at work` : ''}`}
          <meter min={0} max={max} high={max * NEARLY} value={Math.min(spent + held, max)} />
        </label>
      ))}
      <Facts
        facts={{
          Budget: visible(name),
          For: visible(key),
          Since: <Time at={startsAt} />,
          'Begins again': <Time at={resetAt} />,
        }}
      />
    </>
  )
}
