import { Counter } from '../../../../base/counter.ts'
import { addressKey } from '../../../../web/ip-address.ts'
import type { Handshake } from './connection.ts'
import type { EngineSettings } from './options.ts'

/**
 * Counts the connections of an engine, in all and for each address. A session holds a slot until its connection has really
 * closed, because a client may leave its WebSocket open after the server has closed it. A WebSocket that was refused holds a slot
 * too.
 */
export class ConnectionSlots {
  readonly #settings: Pick<EngineSettings, 'maxSessions' | 'maxSessionsPerIp'>
  readonly #addresses = new Counter()
  #taken = 0

  constructor(settings: Pick<EngineSettings, 'maxSessions' | 'maxSessionsPerIp'>) {
    this.#settings = settings
  }

  take(handshake: Handshake): void {
    this.#taken++
    this.#addresses.add(keyOf(handshake))
  }

  give(handshake: Handshake): void {
    this.#taken--
    this.#addresses.remove(keyOf(handshake))
  }

  /** Whether `more` connections would be too many. */
  isFull(handshake: Handshake, more = 1): boolean {
    const { maxSessions, maxSessionsPerIp } = this.#settings
    const ofAddress = this.#addresses.count(keyOf(handshake))
    return this.#taken + more > maxSessions || ofAddress + more > maxSessionsPerIp
  }
}

function keyOf({ ip }: Handshake): string | undefined {
  return ip === undefined ? undefined : addressKey(ip)
}
