/** The service that stock clients of A2A ask. The text of a message chooses what its agent does. */
import { Agent, bearerAuth, createHandler, textOf } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { notes, sleep } from '../fixture/record.ts'

export interface Service {
  readonly url: string
  stop(): Promise<void>
}

/** The gates that are open. */
export const gates = new Set<string>()

/** How many messages each conversation has had. */
const counts = new Map<string, number>()

/** Tasks that wait for an answer. */
const asked = new Set<string>()

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const text = (said: string) => [{ type: 'text', text: said }] as const

const helper = new Agent({
  name: 'helper',
  description: 'Does what it is told',
  register: false,
  async *run(input, { metadata = {}, sessionId = '', signal }) {
    const said = textOf(input)
    const [what, gate = ''] = said.split(' ')
    const task = String(metadata.taskId)
    const count = (counts.get(sessionId) ?? 0) + 1
    counts.set(sessionId, count)
    if (asked.delete(task)) {
      yield `It is sunny in ${said}`
      return
    }
    switch (what) {
      case 'ask':
        asked.add(task)
        return { finishReason: 'input_required' as const, message: 'Which city?' }
      // The question is a part of the answer too.
      case 'ask-aloud':
        asked.add(task)
        yield 'Which city?'
        return { finishReason: 'input_required' as const }
      // A function call that takes long, as the Agent Development Kit writes it.
      case 'confirm':
        asked.add(task)
        yield {
          type: 'artifact',
          artifactId: 'question',
          parts: [
            {
              type: 'data',
              data: { id: 'call-1', name: 'confirm', args: { amount: 50 } },
              metadata: { adk_type: 'function_call', adk_is_long_running: true },
            },
          ],
        }
        return { finishReason: 'input_required' as const }
      case 'count':
        yield `message ${count}`
        return
      case 'look': {
        const parts = typeof input === 'string' ? [] : input
        yield `I see ${parts.flatMap(part => (part.type === 'image' ? [part.mimeType] : []))}`
        return
      }
      case 'message':
        yield { type: 'message', parts: text('a bare message') }
        return
      case 'file':
        yield {
          type: 'artifact',
          artifactId: 'pixel',
          parts: [{ type: 'file', data: PIXEL, mimeType: 'image/png', filename: 'pixel.png' }],
        }
        return
      case 'link':
        yield {
          type: 'artifact',
          artifactId: 'link',
          parts: [{ type: 'file', data: 'https://example.com/a.pdf', mimeType: 'application/pdf' }],
        }
        return
      case 'data':
        yield { type: 'artifact', artifactId: 'facts', parts: [{ type: 'data', data: { city: 'Oslo' } }] }
        return
      case 'chunks':
        yield { type: 'artifact', artifactId: 'poem', parts: text('one '), lastChunk: false }
        yield { type: 'artifact', artifactId: 'poem', parts: text('two'), append: true, lastChunk: true }
        return
      case 'reject':
        yield 'I will not'
        return { finishReason: 'rejected' as const }
      case 'fail':
        yield 'It begins well. '
        throw new Error('it broke')
      case 'wait':
        signal.addEventListener('abort', () => notes.push(`${gate} stopped`))
        yield 'I wait. '
        while (!gates.has(gate) && !signal.aborted) await sleep(10)
        if (!signal.aborted) notes.push(`${gate} ended`)
        yield 'Done.'
        return
      default:
        yield 'You said: '
        yield said
    }
  },
})

/** Serves the agent on a free port. With a token it answers only who has it. */
export async function startService(token?: string): Promise<Service> {
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: { helper },
    a2a: true,
    ...(token !== undefined && { middleware: [bearerAuth({ tokens: { [token]: 'ann' } })] }),
  })
  const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
  return { url: server.url, stop: () => server.close() }
}
