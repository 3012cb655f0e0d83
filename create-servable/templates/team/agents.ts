import { Team, tool } from 'servable'
import { lead, ModelAgent } from 'servable/model-agent'
import { z } from 'zod'
import { model } from './model.ts'

const lookUp = tool({
  name: 'look_up',
  description: 'Finds an order',
  parameters: z.object({ order: z.string() }),
  // Ask your shop here.
  execute: ({ order }) => `Order ${order} is a lamp for 40 euros, and it came broken.`,
})

const refund = tool({
  name: 'refund',
  description: 'Gives the money for an order back',
  parameters: z.object({ order: z.string(), euros: z.number() }),
  // A person approves it in the console, and may change the sum.
  needsApproval: true,
  editable: true,
  execute: ({ order, euros }) => `Order ${order} is refunded with ${euros} euros.`,
})

const clerk = new ModelAgent({
  name: 'clerk',
  description: 'Knows the orders',
  model,
  instructions: 'Say what the order is.',
  tools: [lookUp],
})

const cashier = new ModelAgent({
  name: 'cashier',
  description: 'Refunds orders',
  model,
  instructions: 'Refund what you are asked for.',
  tools: [refund],
})

export const desk = new Team({
  name: 'desk',
  description: 'Answers customers, and refunds their orders',
  members: [clerk, cashier],
  strategy: lead({ model, instructions: 'Ask the clerk about the order, then have the cashier refund it.' }),
  examples: ['Please refund order 7'],
})
