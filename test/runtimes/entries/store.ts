/** A Worker whose Durable Objects each have a store and run the steps that are sent to them. */
import { DurableObject } from 'cloudflare:workers'
import type { ObjectNamespace, ObjectState } from '../../../src/runtimes/cloudflare/platform.ts'
import { type ObjectStore, objectStore } from '../../../src/stores/objects/store.ts'
import { answerSteps } from '../../contracts/store/steps.ts'

interface StoreStub {
  fetch(request: Request): Promise<Response>
}

/** It has the name of a class in `wrangler.toml`. */
export class ServableRun extends DurableObject {
  readonly #store: ObjectStore

  constructor(state: ObjectState, env: unknown) {
    super(state as never, env as never)
    this.#store = objectStore(state.storage)
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.method === 'DELETE') return Response.json({ seen: await clearAtWork(this.#store) })
    return answerSteps(this.#store, request)
  }
}

/** What code sees of a store while it is cleared: the data, `nothing`, or an error. */
async function clearAtWork(store: ObjectStore): Promise<string[]> {
  const seen: string[] = []
  let isCleared = false
  const cleared = store.clear().finally(() => {
    isCleared = true
  })
  while (!isCleared) {
    seen.push(look(store))
    // A timer now and then lets the storage work as well.
    await (seen.length % 10 === 0 ? new Promise(resolve => setTimeout(resolve)) : undefined)
  }
  await cleared
  return [...seen, look(store)]
}

function look(store: ObjectStore): string {
  try {
    return store.transact(tx => tx.oldest('c', 1))[0]?.id ?? 'nothing'
  } catch (error) {
    return String(error)
  }
}

const entry = {
  fetch(request: Request, env: { SERVABLE_RUN: ObjectNamespace<StoreStub> }): Promise<Response> {
    return env.SERVABLE_RUN.getByName(new URL(request.url).pathname).fetch(request)
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
