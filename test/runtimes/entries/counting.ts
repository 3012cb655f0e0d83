/** For Workers of which it is to be known how often an object was made: once for each eviction, and once more. */
import type { ObjectClass, WorkerFetch } from '../../../src/runtimes/cloudflare.ts'

let made = 0

/** The Worker, which tells the count at `/made`. */
export function counting(serve: WorkerFetch): { fetch: WorkerFetch } {
  return {
    fetch: (request, env, context) =>
      new URL(request.url).pathname === '/made'
        ? Promise.resolve(new Response(String(made)))
        : serve(request, env, context),
  }
}

/** The class, whose objects are counted. */
export function counted(Counted: ObjectClass): ObjectClass {
  return class extends Counted {
    constructor(...args: ConstructorParameters<ObjectClass>) {
      super(...args)
      made++
    }
  }
}
