/** Workflows and an agent of Mastra whose runs and messages are in PostgreSQL, set up as in the README of `@mastra/pg`. */

import process from 'node:process'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { Memory } from '@mastra/memory'
import { PostgresStore } from '@mastra/pg'
import { z } from 'zod'
import { scriptedModel, TOOL_NAMES, upper } from '../../scripted-model.ts'
import { answer } from '../stored-workflow.ts'

const schema = z.object({ text: z.string() })
const stepOf = (id: string) =>
  createStep({
    id,
    inputSchema: schema,
    outputSchema: schema,
    execute: async ({ inputData: { text } }) => ({ text: text.toUpperCase() }),
  })
const begun = (id: string) =>
  createWorkflow({ id, inputSchema: schema, outputSchema: schema }).then(stepOf('shout'))
const once = begun('shouts').commit()
const thrice = begun('shouts-thrice').then(stepOf('again')).then(stepOf('louder')).commit()
const storage = new PostgresStore({ id: 'bench', connectionString: process.argv[2] ?? '' })
await storage.init()
const toolOf = (id: string) =>
  createTool({
    ...{ id, description: 'Makes a text louder', inputSchema: schema, outputSchema: schema },
    execute: upper,
  })
const shouter = new Agent({
  id: 'shouter',
  name: 'shouter',
  instructions: 'Shout.',
  model: scriptedModel,
  tools: Object.fromEntries(TOOL_NAMES.map(name => [name, toolOf(name)])),
  memory: new Memory({ storage }),
})
const mastra = new Mastra({ workflows: { once, thrice }, agents: { shouter }, storage, logger: false })

/** Each run has a thread of its own, which keeps its messages. */
async function runAgent(text: string): Promise<string> {
  const thread = crypto.randomUUID()
  const answered = await mastra.getAgent('shouter').generate(text, { memory: { thread, resource: 'owner' } })
  return answered.text
}

answer(async (text, shape) => {
  if (shape === 'agent' || shape === 'agent in a session') return runAgent(text)
  const run = await mastra.getWorkflow(shape === 'one step' ? 'once' : 'thrice').createRun()
  const ended = await run.start({ inputData: { text } })
  return ended.status === 'success' ? ended.result.text : ended.status
})
