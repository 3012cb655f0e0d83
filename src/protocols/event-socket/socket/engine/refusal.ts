/** The errors of Engine.IO: a code and its message as JSON, with HTTP status 400, or 403 for `forbidden`. */

/** The code, message and HTTP status of each error. */
const REFUSALS = {
  unknownTransport: [0, 'Transport unknown', 400],
  unknownSession: [1, 'Session ID unknown', 400],
  badMethod: [2, 'Bad handshake method', 400],
  badRequest: [3, 'Bad request', 400],
  forbidden: [4, 'Forbidden', 403],
  unsupportedVersion: [5, 'Unsupported protocol version', 400],
  tooLarge: [3, 'Payload too large', 413],
  tooMany: [3, 'Too many sessions', 503],
  notFound: [3, 'Not found', 404],
} as const

/** Why a request is refused. */
export type RefusalName = keyof typeof REFUSALS

/** Makes the response of a refusal. */
export function refuse(refusal: RefusalName): Response {
  const [code, message, status] = REFUSALS[refusal]
  return new Response(JSON.stringify({ code, message }), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
}
