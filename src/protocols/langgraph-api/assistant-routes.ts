/**
 * The routes of assistants.
 *
 * @module
 */

import { type Asked, contains, type Fields, numberIn, objectIn, pageReply } from './asked.ts'

/** `POST /assistants/search`. */
export async function searchAssistants(asked: Asked): Promise<unknown> {
  const body = await asked.body()
  const found = await matching(asked, body)
  const offset = numberIn(body.offset, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const limit = numberIn(body.limit, 'limit', 10, 1000)
  return pageReply(found, offset, limit, found.slice(offset, offset + limit))
}

/** `POST /assistants/count`. */
export async function countAssistants(asked: Asked): Promise<unknown> {
  return (await matching(asked, await asked.body())).length
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
export async function getAssistant(asked: Asked): Promise<unknown> {
  const { assistants } = asked.api
  return assistants.json(await assistants.get(asked.param('id')))
}

/** `GET /assistants/:id/schemas`. */
export async function getSchemas(asked: Asked): Promise<unknown> {
  const { graphId } = await asked.api.assistants.get(asked.param('id'))
  const state = {
    type: 'object',
    properties: { messages: { type: 'array', items: { type: 'object' } } },
  }
  return {
    ...{ graph_id: graphId, input_schema: state, output_schema: state, state_schema: state },
    ...{ config_schema: null, context_schema: null },
  }
}

/** `GET /assistants/:id/graph`: one node, because what is inside of an agent is its own. */
export async function getGraph(asked: Asked): Promise<unknown> {
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
  return { nodes, edges }
}

/** `GET /assistants/:id/subgraphs`. */
export async function getSubgraphs(asked: Asked): Promise<unknown> {
  await asked.api.assistants.get(asked.param('id'))
  return {}
}
