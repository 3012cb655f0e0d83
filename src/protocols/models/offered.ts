/**
 * Offers servables as models.
 *
 * @module
 */

import { type Catalog, ServableError, type Target } from '../../core-entry.ts'
import { findNamed, namesOf } from '../encoders/index.ts'

/** Most characters of a name in an error. */
const MAX_SHOWN = 100

/** The models of a service, looked up at each request. */
export interface Models<M extends object = object> {
  list(): M[]
  /** Throws `agent_not_found`. */
  get(id: string): M
  /** The servable of a model. Throws `agent_not_found`. */
  resolve(id: string): Target
}

/** A model of a service. */
export interface Offered {
  readonly id: string
  readonly kind: Target['kind']
  /** Milliseconds since 1970: the time of the first request for models. */
  readonly createdMs: number
}

/** Offers the named servables, or all of them if `named` is undefined. `shape` makes what clients see of a model. */
export function createModels<M extends object>(
  catalog: Catalog,
  named: Readonly<Record<string, string>> | undefined,
  shape: (offered: Offered) => M,
): Models<M> {
  // Set at the first request, because some runtimes have no clock at startup.
  let created: number | undefined
  const find = (id: string) =>
    findNamed(catalog, named === undefined ? id : Object.hasOwn(named, id) ? named[id]! : '')
  const resolve = (id: string) => {
    const target = find(id)
    if (target !== undefined) return target
    throw new ServableError('agent_not_found', `There is no model named \`${id.slice(0, MAX_SHOWN)}\``)
  }
  const get = (id: string): M => {
    created ??= Date.now()
    return shape({ id, kind: resolve(id).kind, createdMs: created })
  }
  return {
    get,
    resolve,
    list: () => (named === undefined ? namesOf(catalog) : Object.keys(named)).filter(find).map(get),
  }
}
