/** Ways to take files: a run with files, the runtime's own parser, and slow runs. */

import { createHandler, type RunEvent, type RunInput } from '../../src/index.ts'

const sizeOf = (input: RunInput): number =>
  typeof input === 'string'
    ? 0
    : input.reduce((sum, part) => sum + ('data' in part ? String(part.data).length : 0), 0)

/** Gives the number of base64 characters of its input, after this time. */
const sizeAgent = (afterMs: number) =>
  ({
    kind: 'agent',
    name: 'size',
    async *stream(input: RunInput): AsyncGenerator<RunEvent> {
      if (afterMs > 0) await new Promise(resolve => setTimeout(resolve, afterMs))
      yield { type: 'text', text: String(sizeOf(input)) }
      yield { type: 'finish', finishReason: 'stop' }
    },
  }) as const

const common = { registry: false, logger: false } as const

const handler = createHandler({
  ...common,
  agents: { size: sizeAgent(0) },
  fileUpload: { maxRequestSize: 640 * 1024 * 1024 },
})

/** `/bare` reads the form and the bytes of its files one after another, and keeps none. */
export async function uploads(request: Request, platform?: unknown): Promise<Response> {
  if (!request.url.endsWith('/bare')) return handler(request, platform as never)
  let bytes = 0
  for (const [, file] of await request.formData()) {
    if (typeof file !== 'string') bytes += (await file.arrayBuffer()).byteLength
  }
  return new Response(String(bytes))
}

/** A handler with the defaults of uploads, whose agent holds its input for a while. */
export const crowdedUploads: (request: Request, platform?: unknown) => Promise<Response> = createHandler({
  ...common,
  agents: { size: sizeAgent(2000) },
  fileUpload: true,
})
