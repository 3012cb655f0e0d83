/** A workflow of Mastra whose runs are in PostgreSQL, set up as in the README of `@mastra/pg`. */

import process from 'node:process'
import { Mastra } from '@mastra/core/mastra'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { PostgresStore } from '@mastra/pg'
import { z } from 'zod'
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
const mastra = new Mastra({ workflows: { once, thrice }, storage, logger: false })

answer(async (text, steps) => {
  const run = await mastra.getWorkflow(steps === 1 ? 'once' : 'thrice').createRun()
  const ended = await run.start({ inputData: { text } })
  return ended.status === 'success' ? ended.result.text : ended.status
})
