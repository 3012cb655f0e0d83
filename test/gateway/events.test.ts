import { expect, it } from 'vitest'
import { serverEventOf } from '../../src/gateway/events.ts'

it("a member's tool call says over the socket whose it is, and an agent's own does not", () => {
  const toolCall = { id: '1', name: 'add' }
  const start = { type: 'tool_call_start', toolCall } as const
  const end = { type: 'tool_call_end', toolCallId: '1', result: 3 } as const
  const told = { toolName: 'add', args: null, toolCallId: '1' }
  expect(serverEventOf(start)).toEqual(['agent.tool.call', told])
  expect(serverEventOf({ ...start, agent: 'm' })).toEqual(['agent.tool.call', { ...told, agent: 'm' }])
  expect(serverEventOf(end)).toEqual(['agent.tool.done', { toolCallId: '1' }])
  expect(serverEventOf({ ...end, error: 'x', agent: 'm' })).toEqual([
    'agent.tool.done',
    { toolCallId: '1', error: 'x', agent: 'm' },
  ])
})
