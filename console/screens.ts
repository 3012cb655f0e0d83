/** The screens, in the order of the navigation. */
import type { FunctionComponent } from 'preact'
import { WaitingBadge } from './approvals/badge.tsx'
import { hasInbox } from './approvals/live.ts'
import { catalog } from './catalog.ts'
import { Home } from './home/home.tsx'
import { lazy } from './lazy.tsx'
import { Chat } from './screens/chat.tsx'
import { Runs } from './screens/runs.tsx'
import { config } from './service.ts'

// What one opens less often is loaded after the page.
const Agents = lazy('Agents', 'Agents')
const Approvals = lazy('Approvals', 'Approvals')
const Sessions = lazy('Sessions', 'Sessions')
const Cards = lazy('Cards', 'Agent cards')
const MyWebhooks = lazy('MyWebhooks', 'My webhooks')
const Tools = lazy('Tools', 'Tools')
const Metrics = lazy('Metrics', 'Metrics')
const Corrections = lazy('Corrections', 'Corrections')
const Schedules = lazy('Schedules', 'Schedules')
const Budgets = lazy('Budgets', 'Budgets')
const Keys = lazy('Keys', 'Keys')
const Webhooks = lazy('Webhooks', 'Webhooks')
const ToolServers = lazy('ToolServers', 'Tool servers')

/** The groups of screens, by what one does there. */
export const GROUPS = ['', 'Build', 'Observe', 'Administer'] as const

/** A screen. Its first heading is an `h1` with `tabIndex={-1}`, which gets the focus when the screen is opened. */
export interface Screen {
  /** Its part of the address. */
  readonly id: string
  readonly title: string
  readonly group: (typeof GROUPS)[number]
  readonly view: FunctionComponent
  /** Whether the service has it. The navigation leaves it out otherwise. Default: it has. */
  readonly isOn?: () => boolean
  /** Whether it lays out the whole sheet itself, as a list beside a detail. Default: it is one page. */
  readonly isWhole?: boolean
  /** A badge beside its name in the navigation, such as the number of waiting requests. */
  readonly Badge?: FunctionComponent
}

const has = (plugin: string) => () => config.value.plugins.includes(plugin)

/** The first one is shown if the address names none. */
export const SCREENS: readonly Screen[] = [
  { id: 'home', title: 'Home', group: '', view: Home },
  { id: 'chat', title: 'Chat', group: 'Build', view: Chat, isWhole: true },
  { id: 'agents', title: 'Agents', group: 'Build', view: Agents },
  {
    id: 'tools',
    title: 'Tools',
    group: 'Build',
    view: Tools,
    isOn: () => config.value.links.tools !== undefined || has('admin')(),
  },
  {
    id: 'cards',
    title: 'Agent cards',
    group: 'Build',
    view: Cards,
    isOn: () => config.value.links.card !== undefined,
  },
  {
    ...{ id: 'my-webhooks', title: 'My webhooks', group: 'Build', view: MyWebhooks, isWhole: true },
    isOn: () => config.value.links.webhooks !== undefined && config.value.identity !== null,
  },
  {
    ...{ id: 'runs', title: 'Runs', group: 'Observe', view: Runs, isWhole: true },
    isOn: () => config.value.notStored === null,
  },
  {
    id: 'approvals',
    title: 'Approvals',
    group: 'Observe',
    view: Approvals,
    isWhole: true,
    Badge: WaitingBadge,
    isOn: () => hasInbox.value,
  },
  {
    ...{ id: 'sessions', title: 'Sessions', group: 'Observe', view: Sessions, isWhole: true },
    isOn: () => has('sessions')() && config.value.identity !== null,
  },
  {
    id: 'metrics',
    title: 'Metrics',
    group: 'Observe',
    view: Metrics,
    isOn: () => config.value.links.metrics !== undefined,
  },
  {
    ...{ id: 'corrections', title: 'Corrections', group: 'Observe', view: Corrections },
    isOn: () => catalog.value.targets.some(({ corrections }) => corrections),
  },
  ...(
    [
      ['schedules', 'Schedules', Schedules, has('schedules')],
      ['budgets', 'Budgets', Budgets, has('budgets')],
      ['keys', 'Keys', Keys, has('keys')],
      ['webhooks', 'Webhooks', Webhooks, () => has('webhooks')() && has('admin')()],
      ['tool-servers', 'Tool servers', ToolServers, has('admin')],
    ] as const
  ).map(
    ([id, title, view, isOn]): Screen => ({
      ...{ id, title, view, isOn },
      group: 'Administer',
      isWhole: true,
    }),
  ),
]

/** The screens that the service has. */
export function shownScreens(): readonly Screen[] {
  return SCREENS.filter(({ isOn }) => isOn?.() ?? true)
}
