/**
 * Serves AI agents, teams and workflows over HTTP with one Web-standard request handler.
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
export type { SteeredMessage, Turn, TurnStatus, TurnToolCall } from './agents/turn.ts'
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
export type { Handler } from './core/handler.ts'
export type { HostedState, ObjectAddress } from './core/hosted.ts'
export { type LocalState, memoryState } from './core/local-state.ts'
export type { LimitOptions, State } from './core/options.ts'
export type {
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
export type { AdminOptions, AuthenticateAdmin } from './features/admin/options.ts'
export type { ConfigFieldView, ToolkitDetail, ToolkitSummary } from './features/admin/toolkit-catalog.ts'
export {
  type Attachable,
  type AuthenticateScraper,
  MetricsExporter,
  type MetricsExporterOptions,
} from './features/metrics/exporter.ts'
export type { AgentMetrics, MetricsJson } from './features/metrics/json.ts'
export { type PausingOptions, pausing } from './features/small/pausing.ts'
export { type VerifyOptions, verifyWebhook, type Webhook } from './features/webhooks/delivery/webhook.ts'
export { createHandler, openapi } from './handler.ts'
export type { Context, Middleware, Part } from './http/context.ts'
export type { ErrorStory } from './http/error-story.ts'
export type { JsonSchema } from './http/json-schema.ts'
export type { RateLimitOptions } from './http/limits/rate-limit.ts'
export { buildInput, type FileUploadOptions } from './http/limits/upload.ts'
export type { Log, LogEntry } from './http/log.ts'
export { type Identity, type Platform, platform } from './http/platform.ts'
export type { AgentSummary, TeamSummary, WorkflowSummary } from './http/routes/list-routes.ts'
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
export type { SecurityOptions, SecurityRequirement, SecuritySchemes } from './http/security/security.ts'
export type { OAuthFlow, OAuthFlowName, SecurityScheme } from './http/security/security-scheme.ts'
export type { ToolDetail, ToolSummary } from './http/tool-catalog.ts'
export type { HandlerOptions } from './options.ts'
export {
  agentCard,
  agentCards,
  type CardForm,
  type CardOptions,
  type CardSubject,
} from './protocols/a2a/cards/card.ts'
export type { AgentCard, CardGeneration } from './protocols/a2a/cards/card-forms.ts'
export type { A2AOptions, A2AProvider, PushOptions } from './protocols/a2a/options.ts'
export type {
  AuthenticateSocket,
  GatewayLimits,
  GatewayOptions,
} from './protocols/event-socket/gateway/options.ts'
export type { OpenApiDocument } from './protocols/openapi/document.ts'
export type { SwaggerOptions } from './protocols/openapi/options.ts'
export type { DocsAssets, DocsFile } from './protocols/openapi/page.ts'
export type { PausedTarget } from './runs/brake.ts'
export type { ModelPrice, Pricing } from './runs/pricing.ts'
export type { CompactContext, SessionsOptions } from './runs/sessions/session-options.ts'
export type { DisconnectPolicy } from './runs/stored/host.ts'
export type { MemoryStateOptions } from './runs/stored/local-state.ts'
export type { AnsweredRequest, RunRecord, RunStatus } from './runs/stored/record.ts'
export type { Retained, RetentionMs } from './runs/stored/retention-of.ts'
export type { LocalParts, Retention } from './stores/state.ts'
export type { TrustProxy } from './web/client-address.ts'
export type { CorsOptions, CorsSetting } from './web/cors.ts'
export type { Problem } from './web/problem.ts'
