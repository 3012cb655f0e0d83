/**
 * The bindings of a Worker, and calls over them. What a service answers is wrapped, so that errors keep their code.
 *
 * @module
 */

import { env } from 'cloudflare:workers'
import { asLogged, type ErrorReport, reportError, ServableError, shouldLog } from '../../base/errors.ts'
import type { ObjectAddress, ObjectClassName, Reach } from '../../core/hosted.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'
import { sha256 } from '../../web/digest.ts'
import type { ObjectNamespace } from './platform.ts'

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

/**
 * Takes the files of the documentation page from a Worker's static assets. `wrangler.toml` needs `[assets] directory =
 * "node_modules/swagger-ui-dist"`, `binding = "ASSETS"` and `run_worker_first = true`. A Worker that does not use this
 * contains no part of Swagger UI.
 *
 * @example
 * const options = { swagger: { enabled: true, assets: workerAssets() } }
 */
export function workerAssets(binding = 'ASSETS'): (file: string) => Promise<Response> {
  return async file => {
    const assets = (env as Record<string, { fetch?(url: string): Promise<Response> } | undefined>)[binding]
    if (assets?.fetch === undefined) {
      throw new ServableError('not_found', `The page needs static assets with the binding \`${binding}\``)
    }
    // The host of an asset's address has no meaning.
    return assets.fetch(`https://assets/${file}`)
  }
}

/** A value or a failure. RPC would drop the class and code of a thrown error. */
export type RpcAnswer<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & ErrorReport)

/** Returns the value of `work`, or its error. */
type RpcAnswerer = <T>(work: () => T | Promise<T>) => Promise<RpcAnswer<T>>

/** Creates a wrapper that logs errors in this process, since stacks and causes do not cross RPC. */
export function answering(log: () => Log): RpcAnswerer {
  return async work => {
    try {
      return { ok: true, value: await work() }
    } catch (error) {
      if (shouldLog(error)) logThrown(log(), { event: 'object.failed' }, error)
      return { ok: false, ...reportError(error, false, 'internal_error') }
    }
  }
}

/** Returns the value of an answer. Throws its error, which the other side has logged already. */
async function unwrap<T>(asked: Promise<RpcAnswer<T>>): Promise<T> {
  const answered = await asked
  if (answered.ok) return answered.value
  const { code, message, ...more } = answered
  throw asLogged(new ServableError(code, message, more))
}
