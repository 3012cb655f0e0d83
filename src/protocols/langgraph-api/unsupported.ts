/**
 * What LangGraph's server has and this one has not. Its clients learn so at once, and do not try again.
 *
 * @module
 */

import { type PluginRoute, ServableError } from '../../core-entry.ts'

function refuse(text: string): () => never {
  return () => {
    throw new ServableError('unsupported_operation', text)
  }
}

const assistants = refuse('Assistants are the agents of this service, and have one version')
const crons = refuse('Runs on a schedule are made in the code of this service')
const store = refuse('This service has no store of items')

/** The routes that answer so. */
export const refused: readonly (readonly [PluginRoute['method'], string, () => never])[] = [
  ['POST', 'assistants', assistants],
  ['PATCH', 'assistants/:id', assistants],
  ['DELETE', 'assistants/:id', assistants],
  ['POST', 'assistants/:id/versions', assistants],
  ['POST', 'assistants/:id/latest', assistants],
  ['POST', 'runs/crons', crons],
  ['POST', 'runs/crons/search', crons],
  ['POST', 'runs/crons/count', crons],
  ['POST', 'threads/:thread/runs/crons', crons],
  ['GET', 'store/items', store],
  ['DELETE', 'store/items', store],
  ['POST', 'store/items/search', store],
  ['POST', 'store/namespaces', store],
]
