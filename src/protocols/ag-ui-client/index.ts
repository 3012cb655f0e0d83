/**
 * Clients of AG-UI that attach: the entry `servable/ag-ui-client`. It is for pages and for CopilotKit's runtime, and uses the user's own copy of
 * `@ag-ui/client` (0.0.59 to 1.x).
 *
 * Begin with `agent.ts`, then `reading.ts` (a stream over cuts) and `runner.ts` (for CopilotKit's runtime). Imports nothing of the service.
 *
 * @module
 */

export { ServableAgent, type ServableAgentConfig } from './agent.ts'
export { AgUiError, type AgUiErrorCode } from './reading.ts'
export {
  type CopilotRequest,
  type ServableRunner,
  type ServableRunnerOptions,
  servableRunner,
} from './runner.ts'
