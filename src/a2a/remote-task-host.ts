import type { HostedState } from '../core/hosted.ts'
import type { TaskHost } from './task-host.ts'

/** To be replaced. */
export function createRemoteTaskHost(_: HostedState): TaskHost {
  throw new Error('not yet')
}
