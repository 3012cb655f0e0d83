/**
 * The core of a service, for small bundles: runs, streams, stored runs, sessions, discovery, health. Everything else is a plugin.
 * The main entry is `servable`, which has the same, and an option for each of the usual plugins.
 *
 * @module
 */

export { Agent, type AgentConfig, type AgentContext } from './agents/agent.ts'
export {
  type AdminPayload,
  type ApprovalPayload,
  type BusEventName,
  type BusEvents,
  type BusListener,
  type BusPayload,
  EventBus,
  type EventBusOptions,
  type OpenPayload,
  type ToolPayload,
} from './agents/bus.ts'
export type {
  Runnable,
  RunOptions,
  RunOutcome,
  RunResult,
  Servable,
  ServableAgent,
  ServableLike,
  ServableTeam,
  ServableWorkflow,
  Step,
  ToolCall,
} from './agents/contract.ts'
export type {
  Correction,
  CorrectionInput,
  CorrectionPage,
  CorrectionQuery,
  CorrectionStore,
} from './agents/corrections.ts'
export type {
  GraphConfig,
  GraphHistoryQuery,
  GraphPlace,
  GraphSnapshot,
  GraphThread,
} from './agents/graph.ts'
export { textOf } from './agents/input.ts'
export { requestOf } from './agents/input-request.ts'
export { selectKey } from './agents/provider-key.ts'
export {
  defaultRegistry,
  type RegisterOption,
  Registry,
  type RegistryNames,
  type ServableOf,
} from './agents/registry.ts'
export type {
  Answer,
  AnsweredBy,
  Artifact,
  ArtifactEvent,
  CheckpointEvent,
  ClientTool,
  ContentPart,
  ErrorEvent,
  EventFacts,
  FinishEvent,
  FinishReason,
  GraphMessageEvent,
  HistoryMessage,
  HistoryToolCall,
  InputRequest,
  Kind,
  MessageEvent,
  Metadata,
  ModelCallEvent,
  ModelUsage,
  ResumedEvent,
  RunEvent,
  RunInput,
  SteeredEvent,
  StepEvent,
  ToolCallReadyEvent,
  Usage,
  Yielded,
} from './agents/run-types.ts'
export type { NamesOf, Nothing, Served, StructuredOf } from './agents/served.ts'
export {
  parallel,
  routeTo,
  sequence,
  Team,
  type TeamConfig,
  type TeamContext,
  type TeamStrategy,
} from './agents/team.ts'
export {
  type ArgsOf,
  type ConfigField,
  type NeedsApproval,
  type OnRepeat,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type Toolkit,
  type ToolOf,
  type ToolsOf,
  tool,
} from './agents/tool.ts'
export type {
  KeptDefinition,
  ServerCallOptions,
  ServerTool,
  ToolApprovals,
  ToolServer,
  ToolServerChange,
  ToolServerDefinition,
  ToolServerPlace,
  ToolServerPolicy,
  ToolServerSource,
  ToolServerStatus,
  ToolServerStore,
  ToolServers,
  ToolServerTransport,
} from './agents/tool-servers.ts'
export { contextOf, type TellsContext } from './agents/transport-context.ts'
export type { SteeredMessage, TreeTurn, Turn, TurnStatus, TurnToolCall, TurnTree } from './agents/turn.ts'
export type { BodyResult, RunContext } from './agents/work/perform.ts'
export type { StepOptions } from './agents/work/step.ts'
export type { BodyContext, Question, StepFacts, StepWork, Waits } from './agents/work/waits.ts'
export type { WorkState } from './agents/work/work.ts'
export {
  type StepBody,
  type StepContext,
  Steps,
  steps,
  Workflow,
  type WorkflowConfig,
} from './agents/workflow.ts'
export {
  type ClientErrorCode,
  type ErrorCode,
  type Issue,
  ServableError,
  type ServableErrorOptions,
  type ServerErrorCode,
} from './base/errors.ts'
export type { Builders, Description, Operation, OperationParts, Paths } from './core/builders.ts'
export type {
  AnsweredRun,
  AnswersToRun,
  Caller,
  CallerRuns,
  CallerSessions,
  FoundRun,
  KeptInput,
  SessionOf,
  StreamOptions,
  WrittenTurn,
} from './core/caller.ts'
export { callerOf } from './core/callers.ts'
export { createHandler, type Handler } from './core/handler.ts'
export type { HostedState, ObjectAddress } from './core/hosted.ts'
export { type LocalState, memoryState } from './core/local-state.ts'
export type { CoreOptions, LimitOptions, State } from './core/options.ts'
export type {
  Forgetting,
  Mounted,
  Plugin,
  PluginCore,
  PluginRoute,
  ToError,
} from './core/plugin.ts'
export {
  type PluginConnection,
  type PluginSocket,
  type SocketHandlers,
  socketRoute,
} from './core/plugin-sockets.ts'
export {
  type Keeping,
  type KeptDocument,
  type KeptQuery,
  type KeptReader,
  type KeptWriter,
  keeping,
  type PluginTransactions,
} from './core/plugin-store.ts'
export type { RunsOptions } from './core/run-options.ts'
export type { Calls } from './core/transaction-calls.ts'
export { corrections } from './features/small/corrections.ts'
export { cors } from './features/small/cors.ts'
export { type PausingOptions, pausing } from './features/small/pausing.ts'
export { rateLimit } from './features/small/rate-limit.ts'
export { roles } from './features/small/roles.ts'
export { trustProxy } from './features/small/trust-proxy.ts'
export { uploads } from './features/small/uploads.ts'
export { type VerifyOptions, verifyWebhook, type Webhook } from './features/webhooks/delivery/webhook.ts'
export type { Catalog } from './http/catalog.ts'
export type { Context, Middleware, Part } from './http/context.ts'
export type { ErrorStory } from './http/error-story.ts'
export type { JsonSchema } from './http/json-schema.ts'
export type { Log, LogEntry } from './http/log.ts'
export { type Identity, type Platform, platform } from './http/platform.ts'
export type { Encoder } from './http/runs/encoded.ts'
export type { AskedRun, RunEntry, StartedRun, Steered } from './http/runs/start-run.ts'
export {
  type ApiKeyOptions,
  apiKeyAuth,
  bearerAuth,
  bearerIdentity,
  type CredentialOptions,
  type VerifyCredential,
} from './http/security/authentication.ts'
export type { ProviderConfig, Providers } from './http/security/key-headers.ts'
export type { Access, Right } from './http/security/rights.ts'
export type { PausedTarget } from './runs/brake.ts'
export type { BegunRun, Observer, RunObserver } from './runs/observer.ts'
export type { ModelPrice, Pricing } from './runs/pricing.ts'
export type { CompactContext, SessionsOptions } from './runs/sessions/session-options.ts'
export type { SessionPage, SessionQuery, SessionSummary } from './runs/sessions/summary.ts'
export type { DisconnectPolicy, RunPage, RunQuery } from './runs/stored/host.ts'
export type { MemoryStateOptions } from './runs/stored/local-state.ts'
export type { RunEventPage } from './runs/stored/log-page.ts'
export type { AnsweredRequest, RunRecord, RunStatus, RunSummary } from './runs/stored/record.ts'
export type { Retained, RetentionMs } from './runs/stored/retention-of.ts'
export type { Target } from './runs/target.ts'
export type { LocalParts, Retention } from './stores/state.ts'
export type { TrustProxy } from './web/client-address.ts'
export type { CorsOptions, CorsSetting } from './web/cors.ts'
export type { Problem } from './web/problem.ts'
export type { Reply } from './web/reply.ts'
