import type { HostedState } from '../core/hosted.ts'
import type { GatewayFetch } from './routes.ts'

/** To be replaced. */
export function forwardToObjects(_: HostedState): GatewayFetch {
  throw new Error('not yet')
}
