/**
 * The items of Responses.
 *
 * @module
 */

import type { Fields } from '../body.ts'
import { callOf, messageOf, type Told, textIn } from '../messages.ts'

/** The items of an input: a text is one of the user. */
export function itemsIn(input: unknown): readonly Fields[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : (input as readonly Fields[])
}

/** Reads items. Throws `invalid_body` for one that is not well formed. Unknown ones are left out. */
export function toldIn(items: readonly Fields[]): Told[] {
  const told: Told[] = []
  for (const [at, item] of items.entries()) {
    const path = `input.${at}`
    const last = told.at(-1)
    // Calls of one assistant are one message: the results of all come after it.
    if (item.type !== 'function_call') told.push(...toTold(item, path))
    else if (last?.role === 'assistant') last.toolCalls.push(callOf(item.call_id, item, path))
    else told.push({ role: 'assistant', toolCalls: [callOf(item.call_id, item, path)] })
  }
  return told
}

function toTold(item: Fields, path: string): Told[] {
  const { type = 'message', id, call_id, approval_request_id, reason } = item
  switch (type) {
    case 'message':
      return [messageOf(item, path)]
    case 'function_call_output':
      return [messageOf({ role: 'tool', tool_call_id: call_id, content: item.output }, path)]
    case 'item_reference':
      return [{ role: 'reference', id: textIn(id, `${path}.id`) }]
    case 'mcp_approval_response': {
      const asked = textIn(approval_request_id, `${path}.approval_request_id`)
      const decision = item.approve === true ? 'approve' : 'deny'
      const why = typeof reason === 'string' && reason !== '' ? { reason } : {}
      return [{ role: 'decision', id: asked, answer: { decision, ...why } }]
    }
    default:
      return []
  }
}

/** An item as lists show it. `id` is for one that has none. */
export function listed(item: Fields, id: string): { id: string } {
  const { role, content } = item
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    ...{ id, type: 'message', ...item },
    ...(typeof content === 'string' && { content: [{ type, text: content }] }),
  }
}
