/**
 * An answer of JSON lines, which reads on only as its client does.
 *
 * @module
 */

/** A stream of lines, which are read only on demand. `onError` gets the error that ends it. */
export function streamOfLines(
  lines: AsyncGenerator<string>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await lines.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          onError(error)
          controller.error(error)
        }
      },
      async cancel() {
        await lines.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** The headers of such an answer. */
export const LINES_HEADERS = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } as const
