/** Nobody reads, ends, deletes, answers or goes on from what is another's. */
import { describe, expect, it } from 'vitest'
import type { Item } from '../../protocols/openai/response-stream.ts'
import { as, own, type Server } from '../runs/client.ts'
import { expectError, get, idOf, itemsIn, kept, open, remove, respond, said, send } from './client.ts'

const user = (content: unknown) => ({ role: 'user', content })

export function owningCases(server: Server): void {
  describe('another owner’s id', () => {
    it('is as one of nothing, everywhere', async () => {
      const ann = as(own('ann'))
      const mine = await respond(server, 'recalls', 'secret', {}, ann)
      const gate = own('gate')
      const work = await respond(server, 'gated', gate, { background: true }, ann)
      const tools = [{ type: 'function', name: 'pick', parameters: { type: 'object' } }]
      const calling = await respond(server, 'paints', 'x', { tools }, ann)
      const approving = await respond(server, 'pays', '7', {}, ann)
      const asking = await respond(server, 'asks', 'x', {}, ann)
      const [call] = itemsIn(calling.output, 'function_call') as [Item]
      const [approval] = itemsIn(approving.output, 'mcp_approval_request') as [Item]
      const result = { type: 'function_call_output', call_id: call.call_id, output: 'red' }
      const yes = { type: 'mcp_approval_response', approval_request_id: approval.id, approve: true }
      const chat = {
        model: 'paints',
        messages: [
          user('x'),
          {
            role: 'assistant',
            tool_calls: [{ id: call.call_id, function: { name: 'pick', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: call.call_id, content: 'red' },
        ],
      }
      for (const headers of [as(own('eve')), {}]) {
        const nothing = [404, 'run_not_found'] as const
        const answer = (model: string, input: unknown, more = {}) =>
          send(server, 'responses', { model, input, ...more }, headers)
        for (const { id } of [mine, work]) {
          expectError(await get(server, `responses/${id}`, { headers }), nothing)
          expectError(await get(server, `responses/${id}?stream=true`, { headers }), nothing)
          expectError(await get(server, `responses/${id}/input_items`, { headers }), nothing)
          expectError(await send(server, `responses/${id}/cancel`, {}, headers), nothing)
          expectError(await remove(server, `responses/${id}`, headers), nothing)
        }
        for (const id of [mine.id, asking.id, idOf(crypto.randomUUID()), 'none', call.call_id])
          expectError(await answer('asks', 'M', { previous_response_id: id }), [
            ...([400, 'previous_response_not_found'] as const),
          ])
        for (const id of [mine.id, mine.output[0]?.id, 'none'])
          expectError(await answer('recalls', [{ type: 'item_reference', id }, user('x')]), nothing)
        expectError(await answer('paints', [result]), nothing)
        expectError(await answer('pays', [yes]), nothing)
        expectError(await send(server, 'chat/completions', chat, headers), nothing)
      }
      await open(server, gate)
      // Nothing of it has changed.
      expect(await kept(server, mine.id, ann)).toEqual(mine)
      expect(said(await respond(server, 'paints', [result], {}, ann))).toBe('Given ["red"]')
      expect(said(await respond(server, 'pays', [yes], {}, ann))).toContain('paid 7')
      const sized = await respond(server, 'asks', 'M', { previous_response_id: asking.id }, ann)
      expect(said(sized)).toContain('It is M.')
    })
  })
}
