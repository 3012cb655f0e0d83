import type { Interrupt } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'
import { memoryState } from '../../../src/index.ts'
import { handlerOn } from '../../contracts/ag-ui/service.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventsIn, type Told } from './told.ts'

const handler = handlerOn(memoryState(), undefined, { logger: false })

async function post(body: object): Promise<Told[]> {
  const init = jsonRequest({ threadId: 'thread', runId: 'theirs', tools: [], context: [], ...body })
  const response = await handler(new Request('http://ag-ui.test/api/agents/pays/ag-ui', init))
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return eventsIn(text)
}

/** The interrupt with which a run ends. */
function interruptIn(events: readonly Told[]) {
  const outcome = events.at(-1)?.outcome as { readonly interrupts: readonly [Interrupt] }
  return outcome.interrupts[0]
}

const said = (events: readonly Told[]) => events.map(({ delta }) => delta ?? '').join('')

describe('an answer by `resume`', () => {
  // CopilotKit keeps each answer to an interrupt as the result of its call as well.
  it.each([
    ['cancelled', undefined, { status: 'cancelled' }, 'I have not: The call was denied'],
    ['resolved', { approved: true }, { approved: false }, 'I have paid 5.'],
    // The type of CopilotKit's older hook takes text alone.
    ['resolved', '{"approved":true}', '', 'I have paid 5.'],
  ])(
    'that is %s holds, whatever a message of a tool says of the call',
    async (status, payload, content, end) => {
      const user = { id: 'm1', role: 'user', content: '5' }
      const asked = await post({ protocolVersion: '1.0', messages: [user] })
      const { id: interruptId, toolCallId } = interruptIn(asked)
      const call = { id: toolCallId, type: 'function', function: { name: 'pay', arguments: '{"amount":5}' } }
      const messages = [
        user,
        { id: interruptId, role: 'assistant', content: 'I ask. ', toolCalls: [call] },
        { id: 'm2', role: 'tool', toolCallId, content: JSON.stringify(content) },
      ]
      const events = await post({ messages, resume: [{ interruptId, status, payload }] })
      expect(said(events)).toBe(end)
      expect(events.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId }])
    },
  )
})
