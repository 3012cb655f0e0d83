/** What holds of the MCP server, on every store and runtime. */
import type { Deploy } from '../runtimes/deployments.ts'
import { appCases } from './mcp/apps.ts'
import { askingCases } from './mcp/asking.ts'
import { leavingCases } from './mcp/leaving.ts'
import { limitingCases } from './mcp/limiting.ts'
import { protocolCases } from './mcp/protocol.ts'
import { readingCases } from './mcp/reading.ts'
import { tellingCases } from './mcp/telling.ts'
import { workingCases } from './mcp/working.ts'
import { served } from './served.ts'

export function mcpContract(deploy: Deploy): void {
  const server = served(() => deploy('usual'))
  protocolCases(server)
  tellingCases(server)
  leavingCases(server)
  askingCases(server)
  workingCases(server)
  limitingCases(server)
  readingCases(server)
  appCases(server)
}

/** What a runtime may break of it: answers, streams, and clients that leave. */
export function mcpConnectionContract(deploy: Deploy): void {
  const server = served(() => deploy('usual'))
  tellingCases(server)
  leavingCases(server)
  readingCases(server)
}
