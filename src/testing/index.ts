/**
 * Tests of agents: services without a server, scripted models, a clock to set forward, crashes, and readable assertions.
 *
 * The door `testing` is above all others, and no other knows it. Begin with `service.ts`. May import the entries, and every door but
 * `runtimes`, `command` and the protocols.
 *
 * @module
 */

export type { InputRequest, RunEvent, RunInput, RunResult } from '../agents/contract.ts'
export {
  AgentAssertionError,
  type AgentMatchers,
  assertEvents,
  assertRequest,
  assertText,
  assertToolCalls,
  type ExpectedCall,
  type ExpectedEvent,
  type ExpectedRequest,
  type HasRequests,
  matchers,
  type RunOutput,
} from './matchers.ts'
export type { TestRun } from './run.ts'
export {
  type ModelScript,
  type ScriptedCall,
  type ScriptedMessage,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  scriptedModel,
} from './scripted-model.ts'
export {
  type CallerOptions,
  type TestCaller,
  type TestOptions,
  type TestServable,
  type TestService,
  type TestSettings,
  testService,
} from './service.ts'
export { transcript } from './transcript.ts'
