/**
 * The client's address in one notation, and the key by which it is counted.
 *
 * @module
 */

import { type AddressBytes, parseAddress } from './address.ts'

/** Brackets and a port, as proxies write them (RFC 7239, section 6). */
const BRACKETED = /^\[([^\]]*:[^\]]*)\](?::(?:\d{1,5}|_[\w.-]+))?$/
const WITH_PORT = /^([\d.]+):(?:\d{1,5}|_[\w.-]+)$/

/**
 * The address alone, without a port and a zone. For an IPv4 address inside an IPv6 one it is the IPv4 address. IPv6 is
 * written as RFC 5952 says. Undefined if the text is not an address.
 */
export function addressIn(text: string): string | undefined {
  const bytes = bytesIn(text)
  if (bytes === undefined) return undefined
  if (bytes.length === 4) return bytes.join('.')
  return new URL(`http://[${groupsOf(bytes).join(':')}]/`).hostname.slice(1, -1)
}

/**
 * The key by which an address is counted: IPv4 as a whole, IPv6 by its network of 64 bits, since a client has all of it.
 * Other text is its own key.
 */
export function addressKey(address: string): string {
  const bytes = bytesIn(address)
  if (bytes === undefined) return address.toLowerCase()
  if (bytes.length === 4) return bytes.join('.')
  return `${groupsOf(bytes).slice(0, 4).join(':')}::/64`
}

function bytesIn(text: string): AddressBytes | undefined {
  const [, bracketed] = BRACKETED.exec(text) ?? []
  const [, v4] = WITH_PORT.exec(text) ?? []
  const bytes = parseAddress((bracketed ?? v4 ?? text).replace(/%[\w.-]+$/, ''))
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes
}

/** An IPv4 address inside an IPv6 one (RFC 4291, section 2.5.5.2). */
function isMapped(bytes: AddressBytes): boolean {
  return bytes.length === 16 && bytes.slice(0, 12).every((byte, at) => byte === (at < 10 ? 0 : 255))
}

function groupsOf(bytes: AddressBytes): string[] {
  return Array.from({ length: 8 }, (_, at) =>
    (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
  )
}

/** Returns the client's address. Undefined if no source has it. `peer` is the connection's own address. */
export type AddressReader = (headers: Headers, peer: string | undefined) => string | undefined

/** The address of the connection. */
export const peerAddress: AddressReader = (_, peer) => (peer ? (addressIn(peer) ?? peer) : undefined)

/** Names of the machine itself (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3). */
export const LOOPBACK_NAME: RegExp = /^(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/** Addresses of the machine itself (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
export const LOOPBACK_ADDRESS: RegExp = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i
