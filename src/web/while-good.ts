/**
 * Ends event streams whose reader may no longer read them.
 *
 * @module
 */

/** Whether a response is an event stream. */
export function isEventStream({ body, headers }: Response): boolean {
  return body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/**
 * Returns the response with a body that ends when a check finds that its reader may no longer read it. A failed check ends nothing.
 * `lookMs` are the milliseconds between two checks.
 */
export function whileGood(response: Response, isGood: () => Promise<boolean>, lookMs: number): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const look = async () => {
    // This resolves a waiting read, which closes the stream.
    if (!(await isGood().catch(() => true))) await reader.cancel().catch(() => {})
  }
  const timer = setInterval(() => void look(), lookMs)
  // The end, a failure and a cancellation all come here.
  reader.closed.catch(() => {}).finally(() => clearInterval(timer))
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: reason => reader.cancel(reason),
  })
  return new Response(body, response)
}
