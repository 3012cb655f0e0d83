/**
 * Tool servers (Model Context Protocol) that are added while the service runs.
 *
 * @module
 */

export type {
  ServerTool,
  ToolApprovals,
  ToolServer,
  ToolServerDefinition,
  ToolServers,
} from '../../agents/tool-servers.ts'
export type { OpenStdio } from './connection.ts'
export { type ServerToolOptions, ToolServerManager, type ToolServerManagerOptions } from './manager.ts'
