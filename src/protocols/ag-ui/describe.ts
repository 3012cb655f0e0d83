import { KINDS } from '../../agents/registry.ts'
import type { Builders, BuiltInDescription } from '../../core/builders.ts'
import { RunAgentInputSchema } from './input.ts'

/** Describes the routes for the OpenAPI document. */
export function describeAgUi(build: Builders): BuiltInDescription {
  const { at, operation, answer, json, eventStream, nameOf, ref, object, text } = build
  const paths = KINDS.map(kind => [
    at(`${kind}s/{name}/ag-ui`),
    {
      post: operation('run', `${kind}AgUi`, 'Run for an AG-UI client', {
        parameters: [nameOf(kind)],
        requestBody: { required: true, content: json(ref('RunAgentInput')) },
        responses: { 200: answer('Events', eventStream(object({ type: text }))) },
        problems: [400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503],
      }),
    },
  ])
  return { paths: Object.fromEntries(paths), bodies: { RunAgentInput: RunAgentInputSchema } }
}
