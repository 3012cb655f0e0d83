import { tool } from 'servable'
import { ModelAgent } from 'servable/model-agent'
import { z } from 'zod'
import { model } from '../model.ts'

const ORDERS = new Map([
  ['A1', { customer: 'ada', item: 'a lamp', euros: 40, status: 'delivered' }],
  ['B7', { customer: 'bob', item: 'a chair', euros: 120, status: 'on its way' }],
])

/** An order of this customer. The orders of others do not exist for them. */
export function orderOf(customer: string | undefined, number: string) {
  const order = ORDERS.get(number)
  return order?.customer === customer ? order : undefined
}

/** Pays once, however often it is called for an order. */
export function payBack(number: string, euros: number): string {
  const order = ORDERS.get(number)
  if (!order || order.status === 'refunded') return `Order ${number} was refunded before.`
  order.status = 'refunded'
  return `We paid ${euros} euros back for order ${number}.`
}

const orderStatus = tool({
  name: 'order_status',
  description: 'The status of an order of the customer',
  parameters: z.object({ order: z.string() }),
  execute: ({ order }, { identity }) => {
    const found = orderOf(identity, order)
    return found ? `Order ${order}, ${found.item}, is ${found.status}.` : `You have no order ${order}.`
  },
})

export const orders = new ModelAgent({
  name: 'orders',
  description: 'Knows the orders of the customer',
  model,
  instructions: 'Answer questions about orders in one or two sentences.',
  tools: [orderStatus],
})
