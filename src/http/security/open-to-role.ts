/**
 * Ends streams that roles have opened.
 *
 * @module
 */

import { isEventStream, whileGood } from '../../web/while-good.ts'

/** Milliseconds for which a stream is open to a role. Who still has the role asks again, and goes on where the stream ended. */
const STREAM_MS = 60_000

/** Ends a stream that a role has opened, since the role may be taken away meanwhile. */
export function openToRole(response: Response): Response {
  return isEventStream(response) ? whileGood(response, async () => false, STREAM_MS) : response
}
