import { Agent, ServableError, textOf, tool } from 'servable'
import { z } from 'zod'
import { orderOf, payBack } from './orders.ts'

const refund = tool({
  name: 'refund',
  description: 'Gives the money for an order back',
  parameters: z.object({ order: z.string(), euros: z.number(), reason: z.string() }),
  needsApproval: ({ euros }) => euros > 20,
  // Whoever approves may change the sum.
  editable: true,
  execute: ({ order, euros }) => payBack(order, euros),
})

export const returns = new Agent({
  name: 'returns',
  description: 'Refunds orders of the customer',
  tools: [refund],
  async *run(input, { identity, ask, callTool }) {
    const [number = ''] = /[A-Z]\d+/.exec(textOf(input)) ?? []
    const order = orderOf(identity, number)
    if (order === undefined) return { text: 'Which of your orders do you want to return?' }
    const schema = z.enum(['It is broken', 'I do not like it'])
    const reason = yield* ask('reason', { message: `Why do you return ${order.item}?`, schema })
    try {
      return { text: yield* callTool(refund, { order: number, euros: order.euros, reason }) }
    } catch (error) {
      if (!(error instanceof ServableError) || error.code !== 'approval_denied') throw error
      return { text: `We do not refund order ${number}. ${error.message}` }
    }
  },
})
