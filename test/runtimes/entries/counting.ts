/** Counts how often a Worker's objects were made: once at first, and once after each eviction. */
import type { ObjectClass, WorkerFetch } from '../../../src/runtimes/cloudflare.ts'

let made = 0

/** The Worker, which gives the count at `/made`. */
export function counting(serve: WorkerFetch): { fetch: WorkerFetch } {
  return {
    fetch: (request, env, context) =>
      new URL(request.url).pathname === '/made'
        ? Promise.resolve(new Response(String(made)))
        : serve(request, env, context),
  }
}

/** The class with counted objects. */
export function counted(Counted: ObjectClass): ObjectClass {
  return class extends Counted {
    constructor(...args: ConstructorParameters<ObjectClass>) {
      super(...args)
      made++
    }
  }
}
