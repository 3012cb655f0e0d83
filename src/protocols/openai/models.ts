/**
 * Offers servables as models.
 *
 * @module
 */

import { type Catalog, ServableError, type Target } from '../../core-entry.ts'
import { findNamed, namesOf } from '../encoders/index.ts'

/** A model in a list. */
export interface Model {
  readonly id: string
  readonly object: 'model'
  /** Seconds since 1970: the time of the first request for models. */
  readonly created: number
  readonly owned_by: string
}

/** Most characters of a name in an error. */
const MAX_SHOWN = 100

/** The models of a service, looked up at each request. */
export interface Models {
  list(): Model[]
  /** Throws `agent_not_found`. */
  get(id: string): Model
  /** The servable of a model. Throws `agent_not_found`. */
  resolve(id: string): Target
}

/** Offers the named servables, or all of them if `named` is undefined. */
export function createModels(catalog: Catalog, named: Readonly<Record<string, string>> | undefined): Models {
  // Set at the first request, because some runtimes have no clock at startup.
  let created: number | undefined
  const find = (id: string) =>
    findNamed(catalog, named === undefined ? id : Object.hasOwn(named, id) ? named[id]! : '')
  const resolve = (id: string) => {
    const target = find(id)
    if (target !== undefined) return target
    throw new ServableError('agent_not_found', `There is no model named \`${id.slice(0, MAX_SHOWN)}\``)
  }
  const get = (id: string): Model => {
    created ??= Math.floor(Date.now() / 1000)
    return { id, object: 'model', created, owned_by: resolve(id).kind }
  }
  return {
    get,
    resolve,
    list: () => (named === undefined ? namesOf(catalog) : Object.keys(named)).filter(find).map(get),
  }
}
