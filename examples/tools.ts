import { ToolServerManager } from '../src/adapters/mcp-client/index.ts'

/** The tool servers of the examples. Administrators add them while the service runs. */
export const toolServers: ToolServerManager = new ToolServerManager()
