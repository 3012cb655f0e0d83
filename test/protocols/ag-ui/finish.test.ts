import { describe, expect, it } from 'vitest'
import type { FinishEvent, InputRequest } from '../../../src/index.ts'
import { finished } from '../../../src/protocols/ag-ui/finish.ts'

const client = { threadId: 'thread', runId: 'theirs' }
const request = { id: 'run/1', toolCallId: 'call', digest: 'd' }
const approval: InputRequest = { ...request, kind: 'approval', toolName: 'pay', args: {} }
const clientTool: InputRequest = { ...request, kind: 'client_tool', toolName: 'pick_color', args: {} }

const ends: readonly (Omit<FinishEvent, 'type'> & { readonly in1: object; readonly in0?: object })[] = [
  { finishReason: 'stop', in1: { type: 'success' } },
  { finishReason: 'cancelled', in1: { type: 'cancelled' } },
  {
    finishReason: 'input_required',
    requests: [clientTool],
    in1: { type: 'success', pendingToolCallIds: ['call'] },
  },
  {
    finishReason: 'input_required',
    requests: [approval, clientTool],
    in1: { type: 'interrupt', interrupts: [expect.objectContaining({ id: 'run/1', toolCallId: 'call' })] },
    in0: { type: 'interrupt', interrupts: [expect.objectContaining({ id: 'run/1', toolCallId: 'call' })] },
  },
]

describe('the outcome of a run', () => {
  it.each(ends)('is $in1.type, of $finishReason, and in 0.x only an interrupt', ({ in1, in0, ...end }) => {
    const event = { type: 'finish', ...end } as const
    expect(finished(event, { client, isVersion1: true })).toMatchObject({ outcome: in1 })
    // Versions from 0.0.54 on refuse `cancelled`, and fields of `success`.
    expect(finished(event, { client })).toEqual(
      in0
        ? expect.objectContaining({ outcome: in0 })
        : expect.not.objectContaining({ outcome: expect.anything() }),
    )
  })
})
