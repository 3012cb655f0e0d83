/**
 * Reads the items of Responses.
 *
 * @module
 */

import { type Fields, textIn } from '../../models/body.ts'
import { callOf, type InputItem, messageOf } from '../messages.ts'

/** The items of an input. A text becomes one message of the user. */
export function itemsIn(input: unknown): readonly Fields[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : (input as readonly Fields[])
}

/** Reads items. Throws `invalid_body` for a malformed item. Unknown types are left out. */
export function parseItems(items: readonly Fields[]): InputItem[] {
  const parsed: InputItem[] = []
  for (const [at, item] of items.entries()) {
    const path = `input.${at}`
    const last = parsed.at(-1)
    // Successive calls become one message of the assistant, and their results follow it.
    if (item.type !== 'function_call') parsed.push(...parseItem(item, path))
    else if (last?.role === 'assistant') last.toolCalls.push(callOf(item.call_id, item, path))
    else parsed.push({ role: 'assistant', toolCalls: [callOf(item.call_id, item, path)] })
  }
  return parsed
}

function parseItem(item: Fields, path: string): InputItem[] {
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

/** An item in a list. An item without an id gets `id`. */
export function listed(item: Fields, id: string): { id: string } {
  const { role, content } = item
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    ...{ id, type: 'message', ...item },
    ...(typeof content === 'string' && { content: [{ type, text: content }] }),
  }
}
