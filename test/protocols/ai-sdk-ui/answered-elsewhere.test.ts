/** A run that asked for two tools of the page, one of which somebody else has answered. */
import { describe, expect, it } from 'vitest'
import {
  createHandler,
  memoryState,
  type RunEvent,
  type RunOptions,
  requestOf,
  type ServableAgent,
} from '../../../src/index.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { post } from '../../contracts/ai-sdk-ui/page.ts'

const IDS = ['one', 'two']

const picks: ServableAgent = {
  kind: 'agent',
  name: 'picks',
  run: () => Promise.reject(new Error('it streams')),
  async *stream(_, { answers = [], runId }: RunOptions = {}): AsyncGenerator<RunEvent> {
    for (const id of IDS) yield { type: 'tool_call_start', toolCall: { id, name: 'pick' } }
    const asked = (id: string) =>
      requestOf({ id: `${runId}/${id}`, kind: 'client_tool', toolCallId: id, toolName: 'pick', args: {} })
    if (answers.length === 0) {
      const requests = await Promise.all(IDS.map(asked))
      return void (yield { type: 'finish', finishReason: 'input_required', requests })
    }
    for (const id of IDS) yield { type: 'tool_call_end', toolCallId: id, result: `of ${id}` }
    yield { type: 'finish', finishReason: 'stop' }
  },
}

describe.each([false, true])('with resume: %s', resume => {
  it('tells the page the result that it has not given, and not its own', async () => {
    const handler = createHandler({
      agents: { picks },
      registry: false,
      state: memoryState(),
      plugins: [aiSdkUi({ resume })],
    })
    const send = async (path: string, body: object) => {
      const answer = await handler(new Request(`http://127.0.0.1/api${path}`, post(body)))
      return { runId: String(answer.headers.get('x-run-id')), text: await answer.text() }
    }
    const user = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'x' }] }
    const clientTools = [{ name: 'pick', parameters: { type: 'object' } }]
    const { runId } = await send('/agents/picks/chat', { id: 'c', messages: [user], clientTools })
    await send(`/runs/${runId}/answers`, { answers: [{ id: `${runId}/one`, result: 'of one' }] })
    const part = { type: 'tool-pick', toolCallId: 'two', state: 'output-available', output: 'of two' }
    const message = { id: runId, role: 'assistant', metadata: { runId }, parts: [part] }
    const { text } = await send('/agents/picks/chat', { id: 'c', messages: [user, message] })
    const results = text.split('\n\n').filter(line => line.includes('tool-output-available'))
    expect(results.map(line => JSON.parse(line.slice('data: '.length)))).toEqual([
      { type: 'tool-output-available', toolCallId: 'one', output: 'of one' },
    ])
  })
})
