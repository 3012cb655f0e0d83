/**
 * The host of a request, and whether its address is valid.
 *
 * @module
 */

/** A host and a port (RFC 3986, sections 3.2.2 and 3.2.3), as a name or an address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{0,5})?$/i

/** An absolute URL of any scheme (Deno has one for Unix sockets). Nothing else is between its host and its path. */
const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{0,5})?(?:\/|$)/i

/** A host, and its name: in lower case, IPv4 as four numbers, without a port and a dot at its end. */
export interface AskedHost {
  readonly host: string
  readonly name: string
}

/** The host that a request with a valid address asks for. */
export function askedHost({ url, headers }: Request): AskedHost {
  const given = headers.get('host')
  const { host, hostname } = new URL(given ? `http://${given}` : url)
  return { host, name: hostname.replace(/\.$/, '') }
}

/** Whether a host is in a list of hosts in lower case, with its port or without. */
export function isAmong({ host, name }: AskedHost, hosts: readonly string[]): boolean {
  return hosts.includes(host) || hosts.includes(name)
}

/** Whether the text is a host, with or without a port. */
export function isHost(text: string): boolean {
  return HOST.test(text) && URL.canParse(`http://${text}/`)
}

/**
 * Whether a request names a valid host (RFC 9112, section 3.2). Runtimes put `Host` before the path unchanged, and some do
 * not check it. An invalid host could change the path, or leave no valid address.
 */
export function isAddressed({ url, headers }: Request): boolean {
  const host = headers.get('host')
  return (!host || isHost(host)) && ABSOLUTE.test(url) && URL.canParse(url)
}
