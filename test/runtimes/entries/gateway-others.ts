// Two more ways to serve the gateway on Node: on the host's own server, and without a platform.
import process from 'node:process'
import { memoryState } from '../../../src/index.ts'
import { createSocketServer } from '../../../src/protocols/event-socket/socket/index.ts'
import { type Fetch, serve } from '../../../src/runtimes/node.ts'
import { handlerOn, RECOVERY_MS } from '../../contracts/gateway/service.ts'

const WAYS: Readonly<Record<string, () => Fetch>> = {
  attached,
  bare,
  usual: () => handlerOn(memoryState()),
}

function attached(): Fetch {
  const own = createSocketServer({
    recovery: { maxMs: RECOVERY_MS },
    namespaces: { '/own': { onEvent: (_socket, event, args, ack) => ack?.(event, ...args) } },
  })
  const handler = handlerOn(memoryState(), 'usual', {
    gateway: { server: own, namespace: '/joined', authenticate: () => ({ id: 'anyone' }) },
  })
  return (request, platform) =>
    new URL(request.url).pathname === '/socket.io/'
      ? own.fetch(request, platform)
      : handler(request, platform)
}

/** Calls the handler as a framework's route handler does. */
function bare(): Fetch {
  const handler = handlerOn(memoryState())
  return request => handler(request)
}

const fetch = WAYS[process.env.SETTINGS ?? '']?.()
if (fetch === undefined) throw new Error('SETTINGS must name a way')
const server = await serve(fetch, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
