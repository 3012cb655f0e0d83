/**
 * A typed client of a service, for browsers and servers. It uses only Web standards and one parser.
 *
 * @module
 */

export type {
  Answer,
  ClientTool,
  HistoryMessage,
  InputRequest,
  RunEvent,
  RunInput,
  RunResult,
} from '../agents/contract.ts'
export type { ModelCallContents } from '../agents/model-calls.ts'
export type { Served } from '../agents/served.ts'
export type { ApprovalDetail } from '../features/approvals/service.ts'
export type { SessionBranch } from '../features/sessions/branches.ts'
export type { TurnPage } from '../features/sessions/turns.ts'
export type { RunListEvent } from '../http/runs/live-runs.ts'
export type { PausedTarget } from '../runs/brake.ts'
export type { StoredFeedback } from '../runs/feedback.ts'
export type { SessionPage, SessionSummary } from '../runs/sessions/summary.ts'
export type { RunEventPage } from '../runs/stored/log-page.ts'
export type { LoggedEvent } from '../runs/stored/logged-calls.ts'
export type { RunRecord, RunSummary } from '../runs/stored/record.ts'
export type {
  ApprovalPage,
  ApprovalsClient,
  Decided,
  Decision,
  InboxFilter,
} from './approvals.ts'
export {
  type AgentClient,
  type Client,
  type CorrectionsClient,
  createClient,
  type Health,
  type ResultOf,
  type ServableClient,
  type ToolsClient,
} from './client.ts'
export type { RunTarget } from './client-run.ts'
export {
  ServableClientError,
  type ServableClientErrorCode,
  type ServableClientErrorOptions,
} from './error.ts'
export type { MetricsClient, MetricsEvent } from './metrics.ts'
export type {
  CallOptions,
  ClientOptions,
  FollowedOptions,
  HeaderFields,
  HeaderSource,
  PlainOptions,
  RunCallOptions,
} from './options.ts'
export type { RunEvents, RunStream } from './run-stream.ts'
export type {
  AnsweredRun,
  ContinuedRun,
  RetryOptions,
  RunFeedback,
  RunListQuery,
  RunsClient,
} from './runs.ts'
export type { SessionOf, SessionsClient } from './sessions.ts'
