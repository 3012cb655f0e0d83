/**
 * Checks the addresses to which others may send a server. Addresses inside the server's own network are refused.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'

/** Which addresses are allowed besides public ones, and how to look names up. */
export interface AddressPolicy {
  /** Hosts (`localhost`), hosts with a port (`127.0.0.1:3000`) and ranges (`10.0.0.0/8`) that are allowed. */
  readonly allow: readonly string[]
  /**
   * Returns the addresses of a name, at least one. Rejects if the lookup fails. Undefined if the runtime cannot look names up.
   */
  readonly resolve: ((host: string) => Promise<readonly string[]>) | undefined
  /** Accepts `http:` only for hosts that `allow` names. */
  readonly isHttpsOnly?: boolean
  /** The ports that addresses may have which `allow` does not name. Default: any. */
  readonly ports?: readonly number[] | undefined
}

/**
 * Blocks that are not part of the public internet, or that lead to other addresses than they show (IANA's registries of
 * special-purpose addresses, RFC 6890). IPv4 addresses inside IPv6 ones are checked separately.
 */
const REFUSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  // Azure's address for the host of a virtual machine.
  '168.63.129.16/32',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/** IPv6 blocks that contain an IPv4 address, and the byte at which it begins. */
const CARRYING: readonly (readonly [range: string, at: number])[] = [
  ['::ffff:0:0/96', 12],
  ['::ffff:0:0:0/96', 12],
  ['64:ff9b::/96', 12],
  ['2002::/16', 2],
]

/** Endings of names that are never public (RFC 6761, 6762, 8375; ICANN reserves `internal` for private use). */
const PRIVATE_NAMES = /(^|\.)(localhost|local|svc|internal|intranet|lan|home|corp|home\.arpa|onion)$/

/** `address_refused` for a name that cannot be looked up now. A later lookup may succeed. */
export class UnknownNameError extends ServableError {
  constructor(host: string, cause: unknown) {
    const text = `The host \`${host.slice(0, 100)}\` cannot be looked up: check its spelling, or try again later`
    super('address_refused', text, { cause })
  }
}

/**
 * Throws `address_refused` unless the URL begins with `http:` or `https:`, has no credentials, and leads to a public address or
 * one that `allow` names. A name is refused if any of its addresses is refused. It is also refused if it has no address; then the
 * error is an {@link UnknownNameError}. Returns the addresses of a name that was looked up, so that the caller connects to a
 * checked one.
 */
export async function checkAddress(url: URL, policy: AddressPolicy): Promise<readonly string[] | undefined> {
  const { allow, resolve, isHttpsOnly, ports } = policy
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('must begin with http: or https:')
  if (url.username !== '' || url.password !== '') throw refused('must have no user name and password')
  const host = hostOf(url)
  if (allow.some(each => names(each, url, host))) return undefined
  const own = parseAddress(host)
  const isInRange = own !== undefined && allow.some(range => isWithin(own, range))
  if (isHttpsOnly && url.protocol === 'http:' && !isInRange) throw refused('must begin with https:')
  if (ports !== undefined && !isInRange && !ports.includes(portOf(url))) {
    throw refused(`must have one of the ports ${ports.join(', ')}`)
  }
  if (own !== undefined) {
    checkBytes(own, host, allow)
    return undefined
  }
  if (!host.includes('.') || PRIVATE_NAMES.test(host)) throw notPublic(host)
  return resolve && checkName(host, resolve, allow)
}

async function checkName(
  host: string,
  resolve: NonNullable<AddressPolicy['resolve']>,
  allow: readonly string[],
): Promise<readonly string[]> {
  const addresses = await lookUp(host, resolve)
  for (const address of addresses) {
    const bytes = parseAddress(address.replace(/%.*$/, ''))
    if (bytes === undefined) throw notPublic(host)
    checkBytes(bytes, host, allow)
  }
  return addresses
}

async function lookUp(
  host: string,
  resolve: NonNullable<AddressPolicy['resolve']>,
): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await resolve(host)
  } catch (cause) {
    throw new UnknownNameError(host, cause)
  }
  if (addresses.length === 0) throw new UnknownNameError(host, undefined)
  return addresses
}

/** The host without brackets and without the final dot. */
function hostOf({ hostname }: URL): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(?<!\.)\.+$/, '')
    .toLowerCase()
}

function names(entry: string, url: URL, host: string): boolean {
  const wanted = entry.toLowerCase()
  const port = portOf(url)
  return (
    wanted === host ||
    wanted === `[${host}]` ||
    wanted === `${host}:${port}` ||
    wanted === `[${host}]:${port}`
  )
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function checkBytes(bytes: AddressBytes, host: string, allow: readonly string[]): void {
  if (allow.some(range => isWithin(bytes, range))) return
  for (const [range, at] of CARRYING) {
    if (isWithin(bytes, range)) return checkBytes(bytes.slice(at, at + 4), host, allow)
  }
  if (REFUSED.some(range => isWithin(bytes, range))) throw notPublic(host)
}

/** The 4 or 16 bytes of an address. */
export type AddressBytes = readonly number[]

/** Whether an address is in a range such as `10.0.0.0/8`. */
function isWithin(bytes: AddressBytes, range: string): boolean {
  if (!isRange(range)) return false
  const [base = '', length] = range.split('/')
  const prefix = parseAddress(base)
  if (prefix === undefined || prefix.length !== bytes.length) return false
  const bits = Number(length)
  return bytes.every((byte, index) => {
    const mask = 0xff00 >> Math.min(8, Math.max(0, bits - index * 8))
    return ((byte ^ (prefix[index] ?? 0)) & mask & 0xff) === 0
  })
}

/** Whether the text is an address range, as `allow` takes it. */
export function isRange(text: string): boolean {
  const [base = '', length = '', ...rest] = text.split('/')
  const bytes = parseAddress(base)
  return (
    bytes !== undefined && rest.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= bytes.length * 8
  )
}

/** The bytes of an address; undefined for a name. */
export function parseAddress(text: string): AddressBytes | undefined {
  return parseV4(text) ?? parseV6(text)
}

function parseV4(text: string): AddressBytes | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined
  const bytes = text.split('.').map(Number)
  return bytes.every(byte => byte < 256) ? bytes : undefined
}

/** RFC 4291, section 2.2. */
function parseV6(text: string): AddressBytes | undefined {
  if (!/^[\da-f:.]+$/i.test(text) || !text.includes(':')) return undefined
  const [head = '', tail, ...rest] = text.split('::')
  if (rest.length > 0) return undefined
  const before = toBytes(head)
  const after = tail === undefined ? [] : toBytes(tail)
  if (before === undefined || after === undefined) return undefined
  const missing = 16 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined
  return [...before, ...new Array<number>(missing).fill(0), ...after]
}

function toBytes(groups: string): AddressBytes | undefined {
  if (groups === '') return []
  const bytes: number[] = []
  const parts = groups.split(':')
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 ? parseV4(part) : undefined
    if (v4 !== undefined) bytes.push(...v4)
    else if (/^[\da-f]{1,4}$/i.test(part))
      bytes.push(Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255)
    else return undefined
  }
  return bytes
}

function refused(why: string): ServableError {
  return new ServableError('address_refused', `The address ${why}`)
}

function notPublic(host: string): ServableError {
  return refused(`\`${host.slice(0, 100)}\` is not public: to allow it, add it to \`allow\``)
}
