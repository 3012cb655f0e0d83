/**
 * Whether a request can be understood as asking for an address.
 *
 * @module
 */

/** A host and a port (RFC 3986, sections 3.2.2 and 3.2.3), as names and addresses are written. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{0,5})?$/i

/** An absolute URL, of any scheme (Deno has one for Unix sockets), whose host stands alone before its path. */
const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{0,5})?(?:\/|$)/i

/** Whether the text is a host, with a port or without. */
export function isHost(text: string): boolean {
  return HOST.test(text) && URL.canParse(`http://${text}/`)
}

/**
 * Whether a request names a host that can be read (RFC 9112, section 3.2). Runtimes put `Host` before the path as it came,
 * and not all of them look at it: what is no host could make another path of the address, or no address at all.
 */
export function isAddressed({ url, headers }: Request): boolean {
  const host = headers.get('host')
  return (!host || isHost(host)) && ABSOLUTE.test(url) && URL.canParse(url)
}
