import { expect, it, vi } from 'vitest'
import { FailureNotes, type InnerFailure } from '../../src/runs/failures.ts'

it('names the tool that failed, however many were called before', () => {
  const told = vi.fn<(failure: InnerFailure) => void>()
  const notes = new FailureNotes(told)
  const call = (id: string, error?: string) => {
    notes.see({ type: 'tool_call_start', toolCall: { id, name: `tool ${id}` } })
    notes.see({ type: 'tool_call_end', toolCallId: id, ...(error !== undefined && { error }) })
  }
  for (let index = 0; index < 3000; index++) call(String(index))
  call('last', 'no such city')
  notes.settle()
  expect(told).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ of: 'tool last', message: 'no such city' }),
  )
})
