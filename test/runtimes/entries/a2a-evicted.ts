// The Worker of the A2A contract, with a look at how often the objects of tasks were made.
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { a2aHandler, a2aOptions } from '../../contracts/a2a/service.ts'

const options = a2aOptions(durableState(), 'patient')
const serve = worker(a2aHandler(options))

let made = 0

const entry: { fetch: WorkerFetch } = {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === '/made'
      ? Promise.resolve(new Response(String(made)))
      : serve(request, env, context),
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

const { ServableRun: Run, ServableIndex } = durableObjects(options)

export { ServableIndex }

/** Counts how often one is made. */
export class ServableRun extends Run {
  constructor(...args: ConstructorParameters<typeof Run>) {
    super(...args)
    made++
  }
}
