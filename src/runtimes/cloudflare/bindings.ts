import { env } from 'cloudflare:workers'
import { ServableError } from '../../base/errors.ts'
import type { ObjectClassName, Reach } from '../../core/hosted.ts'
import type { ObjectAddress } from '../../core/object-address.ts'
import { sha256 } from '../../web/digest.ts'
import type { ObjectNamespace } from './platform.ts'
import { type Answer, unwrap } from './rpc.ts'

/** The methods of an object: an object of sockets answers requests, all others answer questions to their keepers. */
export interface ObjectStub {
  ask(keeper: string, method: string, args: readonly unknown[]): Promise<Answer<unknown>>
  fetch(request: Request): Promise<Response>
}

/** The names of each class: its binding, and its export from a Worker. */
export const NAMES: Readonly<Record<ObjectClassName, readonly [binding: string, className: string]>> = {
  run: ['SERVABLE_RUN', 'ServableRun'],
  index: ['SERVABLE_INDEX', 'ServableIndex'],
  gateway: ['SERVABLE_GATEWAY', 'ServableGateway'],
  metrics: ['SERVABLE_METRICS', 'ServableMetrics'],
}

/** Finds a binding by its name. Throws `invalid_options`, which says what to write, if the binding is missing. */
export function findObjects(className: ObjectClassName): ObjectNamespace<ObjectStub> {
  const [name, exported] = NAMES[className]
  const bindings = env as Readonly<Record<string, Partial<ObjectNamespace<ObjectStub>> | undefined>>
  const binding = bindings[name]
  // Only a binding to Durable Objects has this method.
  if (typeof binding?.getByName === 'function') return binding as ObjectNamespace<ObjectStub>
  throw new ServableError(
    'invalid_options',
    `\`state: durableState()\` needs the Durable Object binding \`${name}\`: in wrangler.toml add ` +
      `[[durable_objects.bindings]] name = "${name}", class_name = "${exported}", list the class under ` +
      `[[migrations]] new_sqlite_classes, and export it: export const { ${exported} } = durableObjects(handler)`,
  )
}

/** Asks the keepers of objects. */
export const reach: Reach =
  (className, place, keeper) =>
  async (method, ...args) => {
    const name = typeof place === 'string' ? place : await nameOf(place)
    return unwrap(findObjects(className).getByName(name).ask(keeper, method, args))
  }

async function nameOf({ name, key }: Exclude<ObjectAddress, string>): Promise<string> {
  return `${name}:${await sha256(key)}`
}
