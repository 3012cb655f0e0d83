/** The two sides: our handler, and a hand-written one for the same agents. */

import { createHandler, type Handler } from '../../src/index.ts'
import { echo, many } from './agents.ts'

/** Our handler, with the defaults except for the registry. */
export const servable: Handler = createHandler({ registry: false, production: true, agents: { echo, many } })

const encoder = new TextEncoder()

/** Parses the same JSON, calls the same agents, and answers with the same JSON and lines. It checks and limits nothing. */
export async function bare(request: Request): Promise<Response> {
  const { input } = await request.json()
  return request.url.endsWith('/run') ? bareRun(input) : bareStream()
}

async function bareRun(input: string): Promise<Response> {
  let text = ''
  for await (const event of echo.stream(input)) if (event.type === 'text') text += event.text
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }
  const runId = crypto.randomUUID()
  const result = { text, toolCalls: [], usage, structured: null, durationMs: 0, finishReason: 'stop', runId }
  return new Response(JSON.stringify(result), { headers: { 'content-type': 'application/json' } })
}

function bareStream(): Response {
  const events = many.stream()
  let id = 0
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(`id: ${++id}\ndata: ${JSON.stringify(value)}\n\n`))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
