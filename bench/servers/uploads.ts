/** Two ways to take files: a run with them, and what the runtime does by itself. */

import { createHandler, type RunEvent, type RunInput } from '../../src/index.ts'

const sizeOf = (input: RunInput): number =>
  typeof input === 'string'
    ? 0
    : input.reduce((sum, part) => sum + ('data' in part ? String(part.data).length : 0), 0)

/** Says how many characters of base64 it was given. */
const size = {
  kind: 'agent',
  name: 'size',
  async *stream(input: RunInput): AsyncGenerator<RunEvent> {
    yield { type: 'text', text: String(sizeOf(input)) }
    yield { type: 'finish', finishReason: 'stop' }
  },
} as const

const handler = createHandler({
  agents: { size },
  registry: false,
  logger: false,
  fileUpload: { maxRequestSize: 640 * 1024 * 1024 },
})

/** `/bare` reads the form and the bytes of its files, one after another, and keeps none. */
export async function uploads(request: Request, platform?: unknown): Promise<Response> {
  if (!request.url.endsWith('/bare')) return handler(request, platform as never)
  let bytes = 0
  for (const [, file] of await request.formData()) {
    if (typeof file !== 'string') bytes += (await file.arrayBuffer()).byteLength
  }
  return new Response(String(bytes))
}
