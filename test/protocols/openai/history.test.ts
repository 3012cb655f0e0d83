/** Histories as models take them. */
import { expect, it } from 'vitest'
import { answeredOnly } from '../../../src/protocols/encoders/history.ts'

const call = { toolCallId: 'call-1', toolName: 'hue', args: {} }

it('puts results next to their calls', () => {
  const result = { role: 'tool', toolCallId: 'call-1', toolName: 'hue', result: 1 } as const
  const calls = { role: 'assistant', toolCalls: [call] } as const
  const said = { role: 'assistant', content: 'So' } as const
  expect(answeredOnly([calls, said, result, calls])).toEqual([calls, result, said])
})
