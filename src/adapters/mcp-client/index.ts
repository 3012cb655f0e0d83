/**
 * Tool servers (Model Context Protocol) that are added while the service runs.
 *
 * Begin with `manager.ts`, then `link.ts` (one server as this process sees it) and `connection.ts`. May import `agents`, `http`
 * for its version, `web` and `base`.
 *
 * @module
 */

export type {
  ServerContent,
  ServerPrompt,
  ServerPrompts,
  ServerPromptText,
  ServerQuery,
  ServerReads,
  ServerResource,
  ServerResources,
  ServerResourceTemplate,
} from '../../agents/server-reads.ts'
export type {
  CallRound,
  Elicitation,
  ServerCallOptions,
  ServerTool,
  SignIn,
  SignInAnswer,
  SignInPlace,
  ToolAnswers,
  ToolApprovals,
  ToolQuestion,
  ToolServer,
  ToolServerAuth,
  ToolServerDefinition,
  ToolServers,
} from '../../agents/tool-servers.ts'
export type { OpenStdio } from './connection.ts'
export type { AskingContext } from './elicitation.ts'
export { type ServerToolOptions, ToolServerManager, type ToolServerManagerOptions } from './manager.ts'
