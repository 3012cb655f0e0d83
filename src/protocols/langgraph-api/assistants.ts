/**
 * Assistants: each agent, team and workflow is one. Its graph has its name, and its id is made from that.
 *
 * @module
 */

import { type Catalog, type Kind, ServableError, type Target } from '../../core-entry.ts'
import { findNamed, namesOf } from '../encoders/index.ts'
import { assistantIdOf } from './ids.ts'

/** A servable, as clients of LangGraph name it. */
export interface Assistant {
  readonly graphId: string
  readonly id: string
  readonly target: Target
}

/** The most ids that are remembered. */
const MAX_IDS = 10_000

/** Finds assistants. */
export class Assistants {
  readonly #catalog: Catalog
  readonly #ids = new Map<string, Promise<string>>()
  /** The time of the first request for them, as they have none of their own. */
  #since = 0

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Returns the assistant with an id or a name. Throws `agent_not_found`. */
  async get(idOrName: string): Promise<Assistant> {
    const target = findNamed(this.#catalog, idOrName)
    if (target !== undefined) return this.of(target)
    for (const each of await this.all()) if (each.id === idOrName.toLowerCase()) return each
    throw new ServableError(
      'agent_not_found',
      `No assistant has the id or the name \`${idOrName.slice(0, 100)}\``,
    )
  }

  /** The assistant of a servable. */
  async of(target: Target): Promise<Assistant> {
    const { kind, name } = target
    const graphId = findNamed(this.#catalog, name)?.kind === kind ? name : `${kind}/${name}`
    return { graphId, id: await this.#idOf(graphId), target }
  }

  /** The assistant of a thread. Undefined if its agent is not served any more. */
  async find(of: { readonly kind: Kind; readonly name: string } | undefined): Promise<Assistant | undefined> {
    const target = of && this.#catalog.find(of.kind, of.name)
    return target && this.of(target)
  }

  all(): Promise<Assistant[]> {
    return Promise.all(
      namesOf(this.#catalog).flatMap(name => {
        const target = findNamed(this.#catalog, name)
        return target === undefined ? [] : this.of(target)
      }),
    )
  }

  #idOf(graphId: string): Promise<string> {
    let id = this.#ids.get(graphId)
    if (id === undefined) {
      if (this.#ids.size >= MAX_IDS) this.#ids.clear()
      id = assistantIdOf(graphId)
      this.#ids.set(graphId, id)
    }
    return id
  }

  json({ id, graphId, target }: Assistant): Readonly<Record<string, unknown>> {
    this.#since ||= Date.now()
    const at = new Date(this.#since).toISOString()
    return {
      ...{
        assistant_id: id,
        graph_id: graphId,
        name: graphId,
        description: target.servable.description ?? null,
      },
      ...{
        version: 1,
        config: {},
        context: {},
        metadata: { created_by: 'system' },
        created_at: at,
        updated_at: at,
      },
    }
  }
}
