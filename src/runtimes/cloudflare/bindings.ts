import { env } from 'cloudflare:workers'
import { ServableError } from '../../base/errors.ts'
import type { ObjectAddress, ObjectClassName, Reach } from '../../core/hosted.ts'
import { sha256 } from '../../web/digest.ts'
import type { ObjectNamespace } from './platform.ts'
import { type RpcAnswer, unwrap } from './rpc.ts'

/** The methods of an object. A socket object answers requests; all others answer calls of their services. */
export interface ObjectStub {
  ask(service: string, method: string, args: readonly unknown[]): Promise<RpcAnswer<unknown>>
  fetch(request: Request): Promise<Response>
}

/** The names of each class: its binding, and its export from a Worker. */
export const NAMES: Readonly<Record<ObjectClassName, readonly [binding: string, className: string]>> = {
  run: ['SERVABLE_RUN', 'ServableRun'],
  index: ['SERVABLE_INDEX', 'ServableIndex'],
  gateway: ['SERVABLE_GATEWAY', 'ServableGateway'],
  metrics: ['SERVABLE_METRICS', 'ServableMetrics'],
}

/** Finds a binding by its name. If it is missing, throws `invalid_options` with the lines to add. */
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

/** Calls services in objects. */
export const reach: Reach =
  (className, address, service) =>
  async (method, ...args) => {
    const name = typeof address === 'string' ? address : await nameOf(address)
    return unwrap(findObjects(className).getByName(name).ask(service, method, args))
  }

async function nameOf({ name, key }: Exclude<ObjectAddress, string>): Promise<string> {
  return `${name}:${await sha256(key)}`
}
