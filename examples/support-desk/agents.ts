import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Team, tool } from 'servable'
import { lead, ModelAgent, type ModelSource } from 'servable/model-agent'
import { z } from 'zod'

const {
  OPENAI_BASE_URL = 'https://api.openai.com/v1',
  OPENAI_API_KEY = '',
  MODEL = 'gpt-5-mini',
} = process.env

/** A key that a client sends as `x-api-key` pays for its own run. The server's key pays for all others. */
const model: ModelSource = ({ apiKey = OPENAI_API_KEY }) =>
  createOpenAICompatible({ name: 'openai', baseURL: OPENAI_BASE_URL, apiKey, includeUsage: true })(MODEL)

/** A placeholder for your database: the orders of each user. */
const ORDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ada: { A1: 'shipped, arrives on Friday' },
  bob: { B7: 'waits for payment' },
}

const orderStatus = tool({
  name: 'order_status',
  description: 'The status of an order of the user',
  parameters: z.object({ order: z.string() }),
  // The user is the authenticated one. The model cannot choose another one.
  execute: ({ order }, { userId = '' }) => ORDERS[userId]?.[order] ?? 'This user has no such order',
})

/** Answers questions about orders, and remembers the conversation of each session. */
export const orders = new ModelAgent({
  name: 'orders',
  description: 'Knows the orders of the user',
  model,
  instructions: 'You answer questions about orders in one or two sentences.',
  tools: [orderStatus],
})

const returns = new ModelAgent({
  name: 'returns',
  description: 'Knows the rules of returns',
  model,
  instructions:
    'Goods can be returned within 30 days, unopened software only. Answer in one or two sentences.',
})

/** A model reads the question and asks the members that it needs. */
export const desk = new Team({
  name: 'desk',
  members: [orders, returns],
  strategy: lead({ model, instructions: 'Ask the members that can help, then answer the user.' }),
})
