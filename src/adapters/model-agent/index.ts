/**
 * Agents and teams whose answers come from models of the AI SDK.
 *
 * @module
 */

export type { ModelSettings } from './call-model.ts'
export { type LeadOptions, lead } from './lead.ts'
export { ModelAgent, type ModelAgentConfig, type ModelKeys, type ModelSource } from './model-agent.ts'
