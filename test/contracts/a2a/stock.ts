/** The stock clients of 1.x and 0.3, made from a server's card. */
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import {
  type Client as Client03,
  ClientFactory as ClientFactory03,
  JsonRpcTransportFactory as JsonRpc03,
  RestTransportFactory as Rest03,
} from 'a2a-sdk-0.3/client'

export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const

export type Binding = (typeof BINDINGS)[number]

/** The options of a client of 1.x besides the binding. */
interface StockOptions {
  /** The fetch for methods. */
  readonly fetchImpl?: typeof fetch
  /** The fetch for the card. */
  readonly cardFetch?: typeof fetch
  /** Whether it also speaks to servers of 0.3. */
  readonly isOld?: boolean
}

/** A client of 1.x with one binding. */
export function stockV1(
  url: string,
  binding: Binding,
  { fetchImpl = fetch, cardFetch = fetch, isOld = false }: StockOptions = {},
): Promise<Client> {
  const legacyCompat = { enabled: isOld }
  const Transport = binding === 'JSONRPC' ? JsonRpcTransportFactory : RestTransportFactory
  const factory = new ClientFactory({
    transports: [new Transport({ fetchImpl, legacyCompat })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: cardFetch, legacyCompat }),
  })
  return factory.createFromUrl(`${url}/`)
}

/** A client of 0.3 with one binding. */
export function stock03(url: string, binding: Binding, fetchImpl: typeof fetch = fetch): Promise<Client03> {
  const Transport = binding === 'JSONRPC' ? JsonRpc03 : Rest03
  const factory = new ClientFactory03({
    transports: [new Transport({ fetchImpl })],
    preferredTransports: [binding],
  })
  return factory.createFromUrl(`${url}/`)
}
