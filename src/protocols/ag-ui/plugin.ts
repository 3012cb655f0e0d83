/**
 * AG-UI as a plugin: the entry `servable/ag-ui`.
 *
 * Begin with `routes.ts`, then `input.ts` (a request) and `encoder.ts` (its events). May import `core` and what is below it,
 * and no other protocol but `encoders`.
 *
 * @module
 */

import type { Builders, Description, Plugin } from '../../core-entry.ts'
import { KINDS } from '../encoders/index.ts'
import { RunAgentInputSchema } from './input.ts'
import { agUiRoutes } from './routes.ts'

/** Serves `POST` and `GET {prefix}/agents/:name/ag-ui`, and the same for teams and workflows, to clients of AG-UI 0.x and 1.0. */
export function agUi(): Plugin {
  return { name: 'ag-ui', mount: core => ({ routes: agUiRoutes(core), describe: describeAgUi }) }
}

/** Describes the routes for the OpenAPI document. */
function describeAgUi(build: Builders): Description {
  const { at, operation, answer, json, eventStream, nameOf, parameter, ref, object, text } = build
  const paths = KINDS.map(kind => [
    at(`${kind}s/{name}/ag-ui`),
    {
      post: operation('run', `${kind}AgUi`, 'Run for an AG-UI client', {
        parameters: [nameOf(kind)],
        requestBody: { required: true, content: json(ref('RunAgentInput')) },
        responses: { 200: answer('Events', eventStream(object({ type: text }))) },
        problems: [400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503],
      }),
      get: operation(
        'run',
        `attach${kind[0]?.toUpperCase()}${kind.slice(1)}AgUi`,
        'Attach to a thread of AG-UI',
        {
          parameters: [
            nameOf(kind),
            parameter('query', 'threadId', 'Id of the thread'),
            parameter('query', 'runId', 'Id that the client gives the run'),
            parameter('query', 'protocolVersion', 'Version of AG-UI, if it is 1.0 or newer'),
            parameter(
              'query',
              'after',
              '`id` of the last event that the client has; `Last-Event-ID` precedes it',
            ),
          ],
          responses: {
            200: answer('Events; empty for an unknown thread', eventStream(object({ type: text }))),
          },
          problems: [400, 401, 403, 404, 429, 500, 503],
        },
      ),
    },
  ])
  return { paths: Object.fromEntries(paths), bodies: { RunAgentInput: RunAgentInputSchema } }
}
