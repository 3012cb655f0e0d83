/**
 * `servable/a2a-client`: agents of other services, over A2A. Needs the package `@a2a-js/sdk`.
 *
 * Begin with `remote-agent.ts`, then `turn.ts` (one message to a service) and `translator.ts`. May import `agents`, `web`,
 * `base`, and the waiting requests of `frameworks`.
 *
 * @module
 */

export type { RemoteAgentOptions, RemoteCard, RemoteRequest, VerifyCard } from './options.ts'
export { remoteAgent } from './remote-agent.ts'
