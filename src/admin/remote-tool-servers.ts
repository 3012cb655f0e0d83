import type { ToolServers } from '../agents/tool-servers.ts'
import type { HostedState } from '../core/hosted.ts'

/** To be replaced. */
export function connectToolServers(_: HostedState): ToolServers {
  throw new Error('not yet')
}
