import type { Builders, BuiltInDescription, Operation, Schema } from '../../core/builders.ts'

/** The OpenAPI description of the routes. */
export function describeFiles(build: Builders): BuiltInDescription {
  const { at, operation, parameter, answer } = build
  const runId = parameter('path', 'id', 'Id of the run', { type: 'string', format: 'uuid' })
  const part = parameter('query', 'part', 'Which part of it, from 0', {
    type: 'integer',
    minimum: 0,
    default: 0,
  })
  const bytes = { '*/*': { schema: { type: 'string', format: 'binary' } } }
  const get = (operationId: string, summary: string, own: readonly Schema[]): Operation =>
    operation('runs', operationId, summary, {
      parameters: [runId, ...own, part],
      responses: {
        200: answer('The file, to be saved', bytes),
        206: answer('A range of it', bytes),
        304: { description: 'The client has it' },
      },
      problems: [400, 401, 404, 503],
    })
  return {
    paths: {
      [at('runs/{id}/artifacts/{artifactId}')]: {
        get: get('getArtifact', 'Get a file of an artifact of a stored run', [
          parameter('path', 'artifactId', 'Id of the artifact'),
        ]),
      },
      [at('runs/{id}/messages/{number}')]: {
        get: get('getMessageFile', 'Get a file of a message of a stored run', [
          parameter('path', 'number', 'Which message of the run, from 1', { type: 'integer', minimum: 1 }),
        ]),
      },
      [at('runs/{id}/input')]: {
        get: get('getInputFile', 'Get a file of the input of a run in a session', []),
      },
    },
  }
}
