import { expect, it, vi } from 'vitest'
import { RunCounter } from '../../../src/features/metrics/run-counter.ts'
import type { RunEvent } from '../../../src/index.ts'

it('counts a tool once and the usage of the end alone, whatever else a run tells', () => {
  const taker = { tool: vi.fn(), ended: vi.fn(), costOf: () => undefined }
  const counter = new RunCounter({ kind: 'agent', name: 'a', model: undefined }, taker)
  const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
  const events: RunEvent[] = [
    { type: 'tool_call_start', toolCall: { id: '1', name: 'add' } },
    { type: 'tool_call_ready', toolCallId: '1', args: {} },
    { type: 'tool_call_end', toolCallId: '1', result: 1 },
    { type: 'model_call', model: 'a/b', usage },
  ]
  for (const event of events) counter.event(event)
  counter.end({ type: 'finish', finishReason: 'stop', usage }, 5)
  expect(taker.tool.mock.calls.map(([, tool]) => tool)).toEqual(['add'])
  expect(taker.ended).toHaveBeenCalledOnce()
  const sample = taker.ended.mock.calls[0]?.[1]
  expect(sample).toMatchObject({ firstTextMs: undefined, tools: ['add'] })
  expect(sample.usage).toMatchObject(usage)
})
