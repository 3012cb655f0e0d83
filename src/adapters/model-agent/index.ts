/**
 * Agents and teams whose answers come from models of the AI SDK.
 *
 * Begin with `model-agent.ts`, then `converse.ts` (one conversation with a model) and `settle.ts` (one tool call). May import
 * `agents`, `http` for JSON Schema, and the reader of parts in `frameworks`.
 *
 * @module
 */

export type { ModelSettings } from './call-model.ts'
export { type LeadOptions, lead } from './lead.ts'
export { ModelAgent, type ModelAgentConfig, type ModelKeys, type ModelSource } from './model-agent.ts'
