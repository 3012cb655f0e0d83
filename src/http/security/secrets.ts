/**
 * Finds the secrets of a request, which no log may show.
 *
 * @module
 */

/** Names of headers and parameters that hold credentials. */
const SECRET_NAME = /auth|cookie|key|token|secret|passw|credential|session|signature/i

/** Names that look like credentials but are not; their values occur in many texts. */
const HARMLESS = /^(idempotency-key|sec-websocket-key|sessionid|x-amzn-trace-id)$/i

/** The values of headers and query parameters with names of credentials, whole and in their parts. */
export function credentialsIn({ headers, url }: Pick<Request, 'headers' | 'url'>): string[] {
  const found: string[] = []
  for (const [name, value] of headers) {
    if (!isSecretName(name)) continue
    found.push(value)
    if (name === 'cookie') found.push(...cookiesIn(value).flatMap(asSentAndMeant))
    else if (value.includes(' ')) found.push(value.slice(value.indexOf(' ') + 1).trim())
  }
  const query = url.indexOf('?')
  const parameters = query === -1 ? [] : url.slice(query + 1).split('&')
  for (const parameter of parameters) {
    const [[name, value] = ['', '']] = new URLSearchParams(parameter)
    // A text that repeats the address has the value as it was sent.
    if (isSecretName(name)) found.push(value, parameter.slice(parameter.indexOf('=') + 1))
  }
  return found.filter(({ length }) => length >= MIN_LENGTH)
}

/** Shorter values are not treated as credentials, since removing them would only garble a text. */
const MIN_LENGTH = 4

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS.test(name)
}

/** A value, and its decoded form if it is percent-encoded, as cookies' values often are. */
function asSentAndMeant(value: string): string[] {
  try {
    return [value, decodeURIComponent(value)]
  } catch {
    return [value]
  }
}

/** The values of cookies (RFC 6265, section 4.2.1). */
function cookiesIn(header: string): string[] {
  return header.split(';').map(pair => pair.slice(pair.indexOf('=') + 1).trim())
}
