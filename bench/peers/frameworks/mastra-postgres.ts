/** A workflow of Mastra whose runs are in PostgreSQL, set up as in the README of `@mastra/pg`. */

import process from 'node:process'
import { Mastra } from '@mastra/core/mastra'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { PostgresStore } from '@mastra/pg'
import { z } from 'zod'
import { answer } from '../stored-workflow.ts'

const schema = z.object({ text: z.string() })
const shout = createStep({
  id: 'shout',
  inputSchema: schema,
  outputSchema: schema,
  execute: async ({ inputData: { text } }) => ({ text: text.toUpperCase() }),
})
const workflow = createWorkflow({ id: 'shouts', inputSchema: schema, outputSchema: schema })
  .then(shout)
  .commit()
const storage = new PostgresStore({ id: 'bench', connectionString: process.argv[2] ?? '' })
await storage.init()
const mastra = new Mastra({ workflows: { shouts: workflow }, storage, logger: false })

answer(async text => {
  const run = await mastra.getWorkflow('shouts').createRun()
  const ended = await run.start({ inputData: { text } })
  return ended.status === 'success' ? ended.result.text : ended.status
})
