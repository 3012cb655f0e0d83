/**
 * The routes of assistants.
 *
 * @module
 */

import * as v from 'valibot'
import { type Asked, contains, type Fields, metadata, page, pageReply } from './asked.ts'

const SearchSchema = v.object({
  graph_id: v.nullish(v.string()),
  name: v.nullish(v.string()),
  metadata,
  ...page,
})

/** `POST /assistants/search`. */
export async function searchAssistants(asked: Asked): Promise<unknown> {
  const body = await asked.body(SearchSchema)
  const found = await matching(asked, body)
  const next = body.offset + body.limit
  return pageReply(found.length, next, found.slice(body.offset, next))
}

/** `POST /assistants/count`. */
export async function countAssistants(asked: Asked): Promise<unknown> {
  return (await matching(asked, await asked.body(SearchSchema))).length
}

async function matching({ api }: Asked, wanted: v.InferOutput<typeof SearchSchema>): Promise<Fields[]> {
  const { graph_id: graphId, name = '' } = wanted
  const all = (await api.assistants.all()).map(each => api.assistants.json(each))
  return all.filter(
    each =>
      (graphId ?? each.graph_id) === each.graph_id &&
      String(each.name)
        .toLowerCase()
        .includes((name ?? '').toLowerCase()) &&
      contains(each.metadata, wanted.metadata),
  )
}

/** `GET /assistants/:id`. */
export async function getAssistant({ api, ...asked }: Asked): Promise<unknown> {
  return api.assistants.json(await api.assistants.get(asked.context.params.id ?? ''))
}

/** `GET /assistants/:id/schemas`. */
export async function getSchemas(asked: Asked): Promise<unknown> {
  const { graphId } = await asked.api.assistants.get(asked.param('id'))
  const state = { type: 'object', properties: { messages: { type: 'array', items: { type: 'object' } } } }
  const none = { config_schema: null, context_schema: null }
  return { graph_id: graphId, input_schema: state, output_schema: state, state_schema: state, ...none }
}

/** `GET /assistants/:id/graph`: one node, because what is inside of an agent is its own. */
export async function getGraph(asked: Asked): Promise<unknown> {
  await asked.api.assistants.get(asked.param('id'))
  const [begin, node, end] = ['__start__', 'agent', '__end__']
  const agent = { id: node, type: 'runnable', data: { id: [node], name: node } }
  return {
    nodes: [{ id: begin, type: 'schema', data: {} }, agent, { id: end, type: 'schema', data: {} }],
    edges: [
      { source: begin, target: node, conditional: false },
      { source: node, target: end, conditional: false },
    ],
  }
}

/** `GET /assistants/:id/subgraphs`. */
export async function getSubgraphs(asked: Asked): Promise<unknown> {
  await asked.api.assistants.get(asked.param('id'))
  return {}
}
