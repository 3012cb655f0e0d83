import type { Builders, BuiltInDescription, Operations, Schema } from '../core/builders.ts'
import type { Route } from '../http/context.ts'

const ANY: Schema = { type: 'object' }

/** Tells of routes. For the shapes of what they take and answer it leaves it to the documents of OpenAI. */
export function describeRoutes(build: Builders, routes: readonly Route[]): BuiltInDescription {
  const { operation, answer, json, eventStream, object, parameter, text } = build
  const error = object({ message: text, type: text, code: text })
  const paths: Record<string, Operations> = {}
  for (const { method, path: pattern } of routes) {
    const path = pattern.replace(':id', '{id}')
    const verb = method.toLowerCase()
    const id = verb + path.replace(/\W+(\w?)/g, (_, letter: string) => letter.toUpperCase())
    paths[path] = {
      ...paths[path],
      [verb]: operation('run', id, `${method} ${path} of OpenAI`, {
        parameters: path === pattern ? [] : [parameter('path', 'id', 'Id')],
        ...(method === 'POST' && { requestBody: { content: json(ANY) } }),
        responses: {
          200: answer('The answer, or its events', { ...json(ANY), ...eventStream(ANY) }),
          default: answer('The error', json(object({ error }))),
        },
      }),
    }
  }
  return { paths }
}
