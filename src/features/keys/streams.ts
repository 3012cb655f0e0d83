/**
 * Streams of whoever came with a key: they end once the key is not good any more.
 *
 * @module
 */

/** Milliseconds from one look at the key of an open stream to the next. */
const LOOK_MS = 15_000

/** Whether a response goes on for as long as something happens. */
export function isEventStream({ body, headers }: Response): boolean {
  return body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/** The response, whose body ends when a look finds that it is not good any more. A look that fails ends nothing. */
export function whileGood(response: Response, isGood: () => Promise<boolean>): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let timer: ReturnType<typeof setInterval> | undefined
  const stop = () => clearInterval(timer)
  const look = async () => {
    if (await isGood().catch(() => true)) return
    stop()
    // A read that waits is done then, and closes the stream.
    await reader.cancel().catch(() => {})
  }
  const body = new ReadableStream<Uint8Array>({
    start() {
      timer = setInterval(() => void look(), LOOK_MS)
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        stop()
        controller.close()
      } catch (error) {
        stop()
        throw error
      }
    },
    cancel(reason) {
      stop()
      return reader.cancel(reason)
    },
  })
  return new Response(body, response)
}
