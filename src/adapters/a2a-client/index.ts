/**
 * `servable/a2a-client`: agents of other services, over A2A. Needs the package `@a2a-js/sdk`.
 *
 * @module
 */

export type { RemoteAgentOptions, RemoteCard, RemoteRequest, VerifyCard } from './options.ts'
export { remoteAgent } from './remote-agent.ts'
