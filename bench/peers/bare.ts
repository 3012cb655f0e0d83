/** A hand-written server with the same JSON and the same lines. It checks, limits and counts nothing. */

import { echo } from './echo.ts'

const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }

/** The answer of a run. */
export async function runByHand(input: string): Promise<string> {
  let text = ''
  for await (const piece of echo(input)) text += piece
  const runId = crypto.randomUUID()
  const rest = { toolCalls: [], usage, structured: null, durationMs: 0, finishReason: 'stop', runId }
  return JSON.stringify({ text, ...rest })
}

/** The messages of a stream. */
export async function* streamByHand(input: string): AsyncGenerator<string> {
  let id = 0
  for await (const text of echo(input)) {
    yield `id: ${++id}\ndata: ${JSON.stringify({ type: 'text', text })}\n\n`
  }
  yield `id: ${++id}\ndata: ${JSON.stringify({ type: 'finish', finishReason: 'stop' })}\n\n`
}

const encoder = new TextEncoder()

/** The handler of Web-standard requests. */
export async function bareHandler(request: Request): Promise<Response> {
  const { input } = await request.json()
  if (request.url.endsWith('/run')) {
    return new Response(await runByHand(input), { headers: { 'content-type': 'application/json' } })
  }
  const messages = streamByHand(input)
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await messages.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
