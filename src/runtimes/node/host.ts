/** srvx's placeholder for a `Host` that it cannot read. */
const UNREAD = /^(https?:\/\/)_invalid_(?=\/)/

/**
 * Restores `Host` as it came. srvx rejects some valid hosts, such as `agents.example.` and `agents.example:`. The handler
 * refuses invalid ones.
 */
export function withHost<R extends Request>(request: R): R {
  const { url } = request
  if (!UNREAD.test(url)) return request
  const host = request.headers.get('host') ?? ''
  return Object.defineProperty(request, 'url', { value: url.replace(UNREAD, (_, scheme) => scheme + host) })
}
