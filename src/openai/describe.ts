import type { GenericSchema } from 'valibot'
import type { Builders, BuiltInDescription, Schema } from '../core/builders.ts'
import { joinPath } from '../http/router.ts'

/** A route: its method, its path, and what it does, whose words are its id as well. */
export type Described = readonly [method: 'get' | 'post' | 'delete', path: string, what: string]

/** The routes of models and of Chat Completions. */
export const CHAT: readonly Described[] = [
  ['get', 'models', 'List Models'],
  ['get', 'models/{id}', 'Get Model'],
  ['post', 'chat/completions', 'Create ChatCompletion'],
]

/** Tells of routes. For the shapes that are not here it leaves it to the documents of OpenAI. */
export function describeRoutes(
  { operation, answer, json, eventStream, object, parameter, ref, text }: Builders,
  basePath: string,
  routes: readonly Described[],
  bodies: Readonly<Record<string, GenericSchema>>,
): BuiltInDescription {
  const any: Schema = { type: 'object' }
  const failed = answer(
    'The error',
    json(object({ error: object({ message: text, type: text, code: text }) })),
  )
  const paths: Record<string, Record<string, ReturnType<typeof operation>>> = {}
  for (const [method, path, what] of routes) {
    const body = `${what.slice(7)}Body`
    const at = joinPath(basePath, path)
    paths[at] = {
      ...paths[at],
      [method]: operation('run', what.replaceAll(' ', ''), what, {
        parameters: path.includes('{id}') ? [parameter('path', 'id', 'Id')] : [],
        ...(Object.hasOwn(bodies, body) && { requestBody: { required: true, content: json(ref(body)) } }),
        responses: { 200: answer('The answer', { ...json(any), ...eventStream(any) }), default: failed },
      }),
    }
  }
  return { paths, bodies }
}
