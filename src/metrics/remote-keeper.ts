import type { HostedState } from '../core/hosted.ts'
import type { MetricsCore, MetricsKeeper } from './core.ts'

/** To be replaced. */
export function createRemoteKeeper(
  _core: MetricsCore,
  _: HostedState,
  _onError: (error: unknown) => void,
): MetricsKeeper {
  throw new Error('not yet')
}
