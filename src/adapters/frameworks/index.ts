/**
 * Makes agents of other frameworks servable, and plain functions. It imports none of the frameworks. It recognizes agents by
 * their structure.
 *
 * Begin with `to-agent.ts`, which recognizes an agent. Each framework has a folder or a file. May import `agents` and `base`.
 *
 * @module
 */

export { type ToAgentOptions, toAgent } from './to-agent.ts'
