import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Builders, BuiltInDescription, OperationParts, Paths } from '../../core/builders.ts'
import { ChatSchema } from './messages.ts'

/** Describes the routes for the OpenAPI document. */
export function describeChats(build: Builders): BuiltInDescription {
  return {
    paths: Object.assign({}, ...[...KINDS, undefined].map(kind => pathsOf(build, kind))),
    bodies: { ChatBody: ChatSchema },
  }
}

/** The routes of a kind, or those of `{prefix}/chat`. */
function pathsOf(build: Builders, kind: Kind | undefined): Paths {
  const { at, parameter, answer, json, ref, text } = build
  const path = at(kind === undefined ? 'chat' : `${kind}s/{name}/chat`)
  const of = kind === undefined ? '' : `${kind[0]?.toUpperCase()}${kind.slice(1)}`
  const name = kind === undefined ? [] : [build.nameOf(kind)]
  const stream = answer('Chunks of a UI message stream', build.eventStream(build.object({ type: text })))
  const failed = answer('The text of the error', { 'text/plain': { schema: text } })
  const operation = (verb: string, summary: string, { responses, ...parts }: OperationParts) =>
    build.operation('runs', `${verb}${of}Chat`, summary, {
      parameters: verb === 'tell' ? name : [...name, parameter('path', 'chatId', 'Id of the chat')],
      ...parts,
      responses: { ...responses, default: failed },
    })
  return {
    [path]: {
      post: operation('tell', 'Answer a chat of `useChat`', {
        requestBody: { required: true, content: json(ref('ChatBody')) },
        responses: { 200: stream },
      }),
    },
    [`${path}/{chatId}/stream`]: {
      get: operation('resume', 'Get the answer of a chat from its beginning', {
        responses: { 200: stream, 204: { description: 'There is none' } },
      }),
    },
    [`${path}/{chatId}/stop`]: {
      post: operation('stop', 'Stop a chat', {
        responses: { 204: { description: 'None is at work' } },
      }),
    },
  }
}
