/**
 * What is served, as models.
 *
 * @module
 */

import { KINDS } from '../agents/registry.ts'
import { ServableError } from '../errors.ts'
import type { Catalog } from '../http/catalog.ts'
import type { Target } from '../runs/target.ts'

/** A model, as lists show it. */
export interface Model {
  readonly id: string
  readonly object: 'model'
  /** Seconds since 1970: when models were first asked for. */
  readonly created: number
  readonly owned_by: string
}

/** Most characters of a name in an error. */
const MAX_SHOWN = 100

/** The models of a service, looked up at each request. */
export class Models {
  readonly #catalog: Catalog
  readonly #named: Readonly<Record<string, string>> | undefined
  /** Not when it is made: some runtimes have no time then. */
  #created: number | undefined

  /** Without names all is offered that is served. */
  constructor(catalog: Catalog, named: Readonly<Record<string, string>> | undefined) {
    this.#catalog = catalog
    this.#named = named
  }

  list(): Model[] {
    const ids = this.#named === undefined ? this.#served() : Object.keys(this.#named)
    return ids.flatMap(id => (this.#find(id) === undefined ? [] : this.get(id)))
  }

  /** Throws as {@link Models.resolve} does. */
  get(id: string): Model {
    this.#created ??= Math.floor(Date.now() / 1000)
    return { id, object: 'model', created: this.#created, owned_by: this.resolve(id).kind }
  }

  /** The servable of a model. Throws `agent_not_found`. */
  resolve(id: string): Target {
    const target = this.#find(id)
    if (target !== undefined) return target
    throw new ServableError('agent_not_found', `There is no model named \`${id.slice(0, MAX_SHOWN)}\``)
  }

  #find(id: string): Target | undefined {
    if (this.#named === undefined) return this.#byName(id)
    return Object.hasOwn(this.#named, id) ? this.#byName(this.#named[id] ?? '') : undefined
  }

  /** By a bare name, of an agent before all others, or by a kind and a name. */
  #byName(id: string): Target | undefined {
    const targets = KINDS.map(
      kind => this.#catalog.find(kind, id) ?? this.#catalog.find(kind, id.split(`${kind}/`, 2)[1] ?? ''),
    )
    return targets.find(target => target !== undefined)
  }

  /** The bare names; with the kind where another kind has the name before. */
  #served(): string[] {
    return KINDS.flatMap(kind =>
      this.#catalog.entries(kind).map(({ name }) => {
        return this.#byName(name)?.kind === kind ? name : `${kind}/${name}`
      }),
    )
  }
}
