import type { Builders, Paths, Schema } from '../core/builders.ts'
import { joinPath } from '../http/router.ts'

export function describeChat(build: Builders, basePath: string): Paths {
  const { operation, answer, json, eventStream } = build
  return {
    [joinPath(basePath, 'models')]: {
      get: operation('discovery', 'listModels', 'List the models', {
        responses: { 200: answer('The models', json(OBJECT)), default: failed(build) },
      }),
    },
    [joinPath(basePath, 'models/{id}')]: {
      get: operation('discovery', 'getModel', 'Get a model', {
        parameters: [build.parameter('path', 'id', 'Name of the model')],
        responses: { 200: answer('The model', json(OBJECT)), default: failed(build) },
      }),
    },
    [joinPath(basePath, 'chat/completions')]: {
      post: operation('run', 'completeChat', 'Chat Completions of OpenAI', {
        requestBody: { required: true, content: json(OBJECT) },
        responses: {
          200: answer('The completion, or chunks of it', { ...json(OBJECT), ...eventStream(OBJECT) }),
          default: failed(build),
        },
      }),
    },
  }
}

const OBJECT: Schema = { type: 'object' }

function failed({ answer, json, object, ref: _, text }: Builders): Schema {
  return answer('What is wrong', json(object({ error: object({ message: text, type: text, code: text }) })))
}

export function describeResponses(build: Builders, basePath: string): Paths {
  void basePath
  void build
  return {}
}
