/**
 * Mastra's durable agents and a workflow whose runs are in PostgreSQL. With `recovery` as the second argument, an agent's run at work is taken
 * up again after a crash. By default it is not.
 */

import process from 'node:process'
import { Agent } from '@mastra/core/agent'
import { createDurableAgent } from '@mastra/core/agent/durable'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { Memory } from '@mastra/memory'
import { PostgresStore } from '@mastra/pg'
import { z } from 'zod'
import { modelThat, PAGE_TOOL } from '../../kept-model.ts'
import { INPUT, type KeptShape, page, ROUNDS, STEPS, stepped } from '../../kept-shapes.ts'

const [, , connectionString = '', recovers] = process.argv
const storage = new PostgresStore({ id: 'bench', connectionString })
await storage.init()
const memory = new Memory({ storage })
const tools = {
  [PAGE_TOOL]: createTool({
    ...{ id: PAGE_TOOL, description: 'Reads a page', inputSchema: z.object({ page: z.number() }) },
    execute: async ({ page: round }: { readonly page: number }) => page(round),
  }),
}
const agentThat = (does: 'speaks' | 'calls') =>
  createDurableAgent({
    agent: new Agent({
      ...{ id: does, name: does, instructions: 'Answer.', model: modelThat(does), memory },
      ...(does === 'calls' && { tools }),
    }),
    maxSteps: ROUNDS + 1,
  })
const text = z.string()
const stepOf = (index: number) =>
  createStep({
    ...{ id: `step-${index}`, inputSchema: text, outputSchema: text },
    execute: async ({ inputData }) => stepped(inputData, index),
  })
let workflow = createWorkflow({ id: 'steps', inputSchema: text, outputSchema: text }).then(stepOf(0))
for (let index = 1; index < STEPS; index++) workflow = workflow.then(stepOf(index)) as never
const steps = workflow.commit()
const agents = { speaks: agentThat('speaks'), calls: agentThat('calls') }
const mastra = new Mastra({
  ...{ workflows: { steps }, agents, storage, logger: false },
  ...(recovers === 'recovery' && { recovery: { durableAgents: 'auto' } }),
})

async function runs(shape: KeptShape): Promise<string> {
  if (shape === 'steps') {
    const run = await mastra.getWorkflow('steps').createRun()
    return (await run.start({ inputData: INPUT })).status
  }
  const agent = agents[shape === 'pieces' ? 'speaks' : 'calls']
  const { output, cleanup } = await agent.stream(INPUT, {
    memory: { thread: crypto.randomUUID(), resource: 'someone' },
  })
  const said = await output.text
  cleanup()
  return `${said.length} characters`
}

process.on('message', async (shape: KeptShape) => {
  const begin = performance.now()
  const outcome = await runs(shape)
  process.send?.({ ms: performance.now() - begin, outcome })
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
