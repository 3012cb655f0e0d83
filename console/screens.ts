/** The screens, in the order of the navigation. */
import type { FunctionComponent } from 'preact'
import { Chat } from './screens/chat.tsx'
import { Metrics } from './screens/metrics.tsx'
import { Tools } from './screens/tools.tsx'

/** A screen. Its first heading is an `h1` with `tabIndex={-1}`, which gets the focus when the screen is opened. */
export interface Screen {
  /** Its part of the address. */
  readonly id: string
  readonly title: string
  readonly view: FunctionComponent
  /** What is shown beside its name in the navigation, such as how much waits. */
  readonly Badge?: FunctionComponent
}

export const SCREENS: readonly Screen[] = [
  { id: 'chat', title: 'Chat', view: Chat },
  { id: 'metrics', title: 'Metrics', view: Metrics },
  { id: 'tools', title: 'Tools', view: Tools },
]
