import { type WorkerContext, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { serviceFetch } from '../../contracts/socket/service.ts'

interface Bindings {
  readonly SOCKETS: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

/** The object of all sockets. Requests of a Worker do not share sockets and timers, but those of one Durable Object do. */
export class SocketObject {
  readonly #context: WorkerContext
  readonly #fetch: WorkerFetch = worker(serviceFetch)

  constructor(context: WorkerContext) {
    this.#context = context
  }

  fetch(request: Request): Promise<Response> {
    return this.#fetch(request, undefined, this.#context)
  }
}

const entry: { fetch(request: Request, bindings: Bindings): Promise<Response> } = {
  fetch: (request, { SOCKETS }) => SOCKETS.getByName('all').fetch(request),
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
