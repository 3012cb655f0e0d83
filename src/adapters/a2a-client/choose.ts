/**
 * Chooses how to call a remote agent: the best generation and binding that its card names.
 *
 * @module
 */

import { isObject } from '../../base/validation.ts'
import { failed, unfit } from './failure.ts'
import type { RemoteCard } from './options.ts'

/** An address of a remote agent, with its binding and version. */
export interface RemoteInterface {
  readonly url: string
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  /** 0.3 means 0.2, too, because both send the same. */
  readonly version: '1.0' | '0.3'
  readonly tenant: string | undefined
}

/** The parts of a card that are used. */
export interface ChosenInterface extends RemoteInterface {
  readonly hasStreams: boolean
}

/** Most interfaces of each list that are read. */
const MAX_INTERFACES = 100

const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const

/**
 * Returns the first interface of 1.0, or else of 0.3 and 0.2, at one of the origins. If none is at these origins, it returns one
 * at another origin, whose requests are then refused. An address may be relative to that of the card. Throws `provider_failed` if
 * this library supports none of the interfaces.
 */
export function chooseInterface(card: RemoteCard, cardUrl: URL, origins: readonly string[]): ChosenInterface {
  const named = [...interfacesV1(card, cardUrl), ...interfacesV03(card, cardUrl)]
  const known = named.filter(each => each !== undefined)
  const usable = known.filter(({ url }) => origins.includes(new URL(url).origin))
  const chosen = usable.find(({ version }) => version === '1.0') ?? usable[0] ?? known[0]
  const { capabilities } = card
  const hasStreams = isObject(capabilities) && capabilities.streaming === true
  // A request to an origin that is not allowed is refused later, with the reason.
  if (chosen !== undefined) return { ...chosen, hasStreams }
  if (named.length === 0) throw unfit('has a card that names no address')
  throw failed(
    'The card of the remote agent names no interface of A2A 1.0, 0.3 or 0.2 over JSON-RPC or HTTP+JSON',
  )
}

/** The interfaces of 1.0 (section 4.4.6). Unsupported ones are undefined. */
function interfacesV1({ supportedInterfaces }: RemoteCard, base: URL): (RemoteInterface | undefined)[] {
  return listOf(supportedInterfaces).map(each =>
    interfaceOf(each.url, each.protocolBinding, each.protocolVersion ?? '1.0', each.tenant, base),
  )
}

/** The interfaces of 0.2 and 0.3 (specification 0.3.0, section 5.5). A card of 1.0 may have their members, too. */
function interfacesV03(card: RemoteCard, base: URL): (RemoteInterface | undefined)[] {
  const { url, preferredTransport = 'JSONRPC', additionalInterfaces } = card
  if (typeof url !== 'string') return []
  const others = listOf(additionalInterfaces).map(each =>
    interfaceOf(each.url, each.transport, '0.3', undefined, base),
  )
  return [interfaceOf(url, preferredTransport, '0.3', undefined, base), ...others]
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.slice(0, MAX_INTERFACES).filter(isObject) : []
}

function interfaceOf(
  url: unknown,
  named: unknown,
  version: unknown,
  tenant: unknown,
  base: URL,
): RemoteInterface | undefined {
  const binding = BINDINGS.find(each => each === String(named).toUpperCase())
  const generation = /^1(\.|$)/.test(String(version))
    ? '1.0'
    : /^0\.[23](\.|$)/.test(String(version))
      ? '0.3'
      : undefined
  if (binding === undefined || generation === undefined) return undefined
  if (typeof url !== 'string' || url === '' || !URL.canParse(url, base)) return undefined
  return {
    url: new URL(url, base).href,
    binding,
    version: generation,
    tenant: typeof tenant === 'string' && tenant !== '' ? tenant : undefined,
  }
}
