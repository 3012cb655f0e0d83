/** Agents of the tests of the kit. */
import { ModelAgent } from '../../src/adapters/model-agent/index.ts'
import type { Tool } from '../../src/index.ts'
import { type ModelScript, scriptedModel } from '../../src/testing/index.ts'

/** A tool that notes its calls. */
export function refund(calls: unknown[] = [], more: Partial<Tool> = {}): Tool {
  return {
    name: 'refund',
    description: 'Pays an order back.',
    parameters: { type: 'object', required: ['order'], properties: { order: { type: 'number' } } },
    async execute(args) {
      calls.push(args)
      return { paid: true }
    },
    ...more,
  }
}

/** A model's call of it. */
export const CALL = { toolCalls: [{ name: 'refund', input: { order: 7 } }] }

/** An agent that follows a script. */
export function cashier(script: ModelScript, tools: readonly Tool[] = []): ModelAgent {
  return new ModelAgent({ name: 'cashier', register: false, model: scriptedModel(script), tools })
}
