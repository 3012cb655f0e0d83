/**
 * Assistants: each agent, team and workflow is one. Its graph has its name, and its id is made from that.
 *
 * @module
 */

import { type Catalog, type Kind, ServableError, type Target } from '../../core-entry.ts'
import { jsonReply, type Reply } from '../../web/reply.ts'
import { findNamed, namesOf } from '../encoders/index.ts'
import { type Asked, contains, type Fields, numberIn, objectIn, pageReply } from './asked.ts'
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

  json({ id, graphId, target }: Assistant): Fields {
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

/** `POST /assistants/search`. */
export async function searchAssistants(asked: Asked): Promise<Reply | Response> {
  const body = await asked.body()
  const found = await matching(asked, body)
  const offset = numberIn(body.offset, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const limit = numberIn(body.limit, 'limit', 10, 1000)
  return pageReply(found, offset, limit, found.slice(offset, offset + limit))
}

/** `POST /assistants/count`. */
export async function countAssistants(asked: Asked): Promise<Reply | Response> {
  return jsonReply((await matching(asked, await asked.body())).length)
}

async function matching({ api }: Asked, { graph_id, name, metadata }: Fields): Promise<Fields[]> {
  const all = (await api.assistants.all()).map(each => api.assistants.json(each))
  const wanted = objectIn(metadata, 'metadata')
  return all.filter(
    each =>
      (graph_id === undefined || graph_id === null || each.graph_id === graph_id) &&
      (typeof name !== 'string' || String(each.name).toLowerCase().includes(name.toLowerCase())) &&
      contains(each.metadata, wanted),
  )
}

/** `GET /assistants/:id`. */
export async function getAssistant(asked: Asked): Promise<Reply | Response> {
  const { assistants } = asked.api
  return jsonReply(assistants.json(await assistants.get(asked.param('id'))))
}

/** `GET /assistants/:id/schemas`. */
export async function getSchemas(asked: Asked): Promise<Reply | Response> {
  const { graphId } = await asked.api.assistants.get(asked.param('id'))
  const state = {
    type: 'object',
    properties: { messages: { type: 'array', items: { type: 'object' } } },
  }
  return jsonReply({
    ...{ graph_id: graphId, input_schema: state, output_schema: state, state_schema: state },
    ...{ config_schema: null, context_schema: null },
  })
}

/** `GET /assistants/:id/graph`: one node, because what is inside of an agent is its own. */
export async function getGraph(asked: Asked): Promise<Reply | Response> {
  await asked.api.assistants.get(asked.param('id'))
  const nodes = [
    { id: '__start__', type: 'schema', data: {} },
    { id: 'agent', type: 'runnable', data: { id: ['agent'], name: 'agent' } },
    { id: '__end__', type: 'schema', data: {} },
  ]
  const edges = [
    { source: '__start__', target: 'agent', conditional: false },
    { source: 'agent', target: '__end__', conditional: false },
  ]
  return jsonReply({ nodes, edges })
}

/** `GET /assistants/:id/subgraphs`. */
export async function getSubgraphs(asked: Asked): Promise<Reply | Response> {
  await asked.api.assistants.get(asked.param('id'))
  return jsonReply({})
}
