/**
 * What is served, as models.
 *
 * @module
 */

import type { Kind } from '../agents/contract.ts'
import { KINDS } from '../agents/registry.ts'
import { ServableError } from '../errors.ts'
import type { Catalog } from '../http/catalog.ts'
import type { Target } from '../runs/target.ts'

/** Which servable a model is. A text is its name as a model, or its kind and its name: `team/desk`. */
export type Named = string | { readonly kind: Kind; readonly name: string }

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
  readonly #named: Readonly<Record<string, Named>> | undefined
  /** Not when it is made: some runtimes have no time then. */
  #created: number | undefined

  /** Without names all is offered that is served. */
  constructor(catalog: Catalog, named: Readonly<Record<string, Named>> | undefined) {
    this.#catalog = catalog
    this.#named = named
  }

  list(): Model[] {
    const ids = this.#named === undefined ? this.#served() : Object.keys(this.#named)
    return ids.flatMap(id => {
      const target = this.#find(id)
      return target === undefined ? [] : this.#toModel(id, target)
    })
  }

  /** Throws `agent_not_found`, as {@link Models.resolve} does. */
  get(id: string): Model {
    return this.#toModel(id, this.resolve(id))
  }

  /** The servable of a model. Throws `agent_not_found`. */
  resolve(id: string): Target {
    const target = this.#find(id)
    if (target !== undefined) return target
    const shown = id.length > MAX_SHOWN ? `${id.slice(0, MAX_SHOWN)}…` : id
    throw new ServableError('agent_not_found', `There is no model named \`${shown}\``)
  }

  #find(id: string): Target | undefined {
    if (this.#named === undefined) return this.#byName(id)
    const named = Object.hasOwn(this.#named, id) ? this.#named[id] : undefined
    if (named === undefined) return undefined
    if (typeof named === 'string') return this.#byName(named)
    return this.#catalog.find(named.kind, named.name)
  }

  /** By its bare name, agents first, or by its kind and its name. */
  #byName(id: string): Target | undefined {
    for (const kind of KINDS) {
      const prefix = `${kind}/`
      const target =
        this.#catalog.find(kind, id) ??
        this.#catalog.find(kind, id.startsWith(prefix) ? id.slice(prefix.length) : '')
      if (target !== undefined) return target
    }
    return undefined
  }

  /** The bare names. One that another kind has before is told with its kind. */
  #served(): string[] {
    return KINDS.flatMap(kind =>
      this.#catalog.entries(kind).map(({ name }) => {
        return this.#byName(name)?.kind === kind ? name : `${kind}/${name}`
      }),
    )
  }

  #toModel(id: string, { kind }: Target): Model {
    this.#created ??= Math.floor(Date.now() / 1000)
    return { id, object: 'model', created: this.#created, owned_by: kind }
  }
}
