/** The screens, in the order of the navigation. */
import type { FunctionComponent } from 'preact'
import { WaitingBadge } from './approvals/badge.tsx'
import { Approvals } from './screens/approvals.tsx'
import { Budgets } from './screens/budgets.tsx'
import { Cards } from './screens/cards.tsx'
import { Chat } from './screens/chat.tsx'
import { Corrections } from './screens/corrections.tsx'
import { Keys } from './screens/keys.tsx'
import { Metrics } from './screens/metrics.tsx'
import { Runs } from './screens/runs.tsx'
import { Schedules } from './screens/schedules.tsx'
import { Sessions } from './screens/sessions.tsx'
import { Tools } from './screens/tools.tsx'

/** A screen. Its first heading is an `h1` with `tabIndex={-1}`, which gets the focus when the screen is opened. */
export interface Screen {
  /** Its part of the address. */
  readonly id: string
  readonly title: string
  readonly view: FunctionComponent
  /** A badge beside its name in the navigation, such as the number of waiting requests. */
  readonly Badge?: FunctionComponent
}

/** The first one is shown if the address names none. */
export const SCREENS: readonly Screen[] = [
  { id: 'chat', title: 'Chat', view: Chat },
  { id: 'runs', title: 'Runs', view: Runs },
  { id: 'sessions', title: 'Sessions', view: Sessions },
  { id: 'approvals', title: 'Approvals', view: Approvals, Badge: WaitingBadge },
  { id: 'corrections', title: 'Corrections', view: Corrections },
  { id: 'metrics', title: 'Metrics', view: Metrics },
  { id: 'schedules', title: 'Schedules', view: Schedules },
  { id: 'tools', title: 'Tools', view: Tools },
  { id: 'keys', title: 'Keys', view: Keys },
  { id: 'budgets', title: 'Budgets', view: Budgets },
  { id: 'cards', title: 'Cards', view: Cards },
]
