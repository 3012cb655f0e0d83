/**
 * Makes agents of other frameworks servable, and plain functions. It imports none of the frameworks. It recognizes agents by
 * their structure.
 *
 * @module
 */

export { type ToAgentOptions, toAgent } from './to-agent.ts'
