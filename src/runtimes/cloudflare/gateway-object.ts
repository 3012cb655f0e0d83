/**
 * The Durable Object of the event socket.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { createGatewayOf, logSocketError, type Service } from '../../service.ts'
import { findBindings } from './bindings.ts'
import { createDurableHost } from './durable-host.ts'
import { createDurableRecords } from './durable-records.ts'
import { readForwarded, SHARD_HEADER } from './forwarded.ts'
import { HIBERNATING, Hibernation } from './hibernation.ts'
import type { HibernatingSocket, ObjectClass, ObjectState } from './platform.ts'
import { settingsHere } from './upkeep.ts'

/** Makes the class, which serves what `service` gives. */
export function gatewayObjectClass(service: () => Service): ObjectClass {
  return class ServableGateway extends DurableObject {
    readonly #sockets: Hibernation

    constructor(state: ObjectState, env: unknown) {
      // The base class is typed by the runtime's own types where a user has them.
      super(state as never, env as never)
      const { settings, runs } = service()
      const { gateway } = settings
      if (gateway === undefined) throw new Error('`gateway` is off in the options of `durableObjects`')
      const server = createGatewayOf({ ...service(), runs: settingsHere(runs, settings) }, gateway, {
        host:
          settings.state.kind === 'hosted'
            ? settings.state.createHost(runs)
            : createDurableHost(findBindings(), runs),
        records: createDurableRecords(gateway.recoveryMs),
        engine: {
          ...HIBERNATING,
          // Whoever polls says by the id where its session is.
          generateId: ({ headers }) => `${headers[SHARD_HEADER] ?? ''}.${crypto.randomUUID()}`,
          headers: ['authorization', 'cookie', 'origin', 'user-agent', SHARD_HEADER],
        },
      })
      const { pingInterval } = gateway.limits
      const onError = (error: unknown) => logSocketError(settings.log, error)
      this.#sockets = new Hibernation(state, server, { pingInterval, onError })
    }

    override fetch(request: Request): Promise<Response> {
      return this.#sockets.fetch(request, readForwarded(request.headers))
    }

    override webSocketMessage(socket: HibernatingSocket, message: string | ArrayBuffer): void {
      this.#sockets.message(socket, message)
    }

    override webSocketClose(socket: HibernatingSocket, code: number, reason: string): void {
      this.#sockets.close(socket, code, reason)
    }

    override webSocketError(socket: HibernatingSocket): void {
      this.#sockets.close(socket, 1006, '')
    }

    override async alarm(): Promise<void> {
      this.#sockets.alarm()
    }
  }
}
