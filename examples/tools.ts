import { ToolServerManager } from '../src/mcp-client/index.ts'

/** The tool servers of the example, which administrators add while it runs. */
export const toolServers: ToolServerManager = new ToolServerManager()
