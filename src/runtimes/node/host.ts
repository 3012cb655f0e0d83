/** What srvx puts where it cannot read `Host`. */
const UNREAD = /^(https?:\/\/)_invalid_(?=\/)/

/**
 * Puts `Host` back as it came. srvx reads fewer hosts than there are: `agents.example.` and `agents.example:` are some. What
 * is none the handler refuses.
 */
export function withHost<R extends Request>(request: R): R {
  const { url } = request
  if (!UNREAD.test(url)) return request
  const host = request.headers.get('host') ?? ''
  return Object.defineProperty(request, 'url', { value: url.replace(UNREAD, (_, scheme) => scheme + host) })
}
