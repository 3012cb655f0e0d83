/**
 * What operations of the document are made of.
 *
 * @module
 */

import type { SecurityRequirement } from '../http/security.ts'
import { ref, type Schema } from './schemas.ts'

/** One operation of an OpenAPI document. */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Schema[]
  readonly requestBody?: Schema
  readonly responses: Readonly<Record<string, Schema>>
  /** Any one of these lets a client in; an empty list everyone. Default: as the document says. */
  readonly security?: readonly SecurityRequirement[]
}

/** Operations by method. */
export type Operations = Readonly<Record<string, Operation>>

/** The operations of one path. */
export type Row = readonly [path: string, operations: Operations]

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is not as it must be',
  401: 'Nobody is identified',
  403: 'That may not be done',
  404: 'There is no such thing',
  408: 'The upload was too slow while others waited',
  409: 'The run has ended',
  413: 'The body is too large',
  415: 'The content type is not taken',
  422: 'The idempotency key was used for another body',
  429: 'Too much at a time: try again later',
  500: 'The agent failed',
  502: 'The model provider failed',
  503: 'What keeps the state cannot be reached now',
  504: 'The run took too long',
}

/** A body of JSON, perhaps with an example. */
export const json = (schema: Schema, example?: unknown): Schema => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})

/** One response. */
export const answer = (description: string, content: Schema, headers?: Schema): Schema => ({
  description,
  content,
  ...(headers && { headers }),
})

/** The problems that an operation may answer, by their statuses. */
function problems(...statuses: readonly number[]): Record<string, Schema> {
  return Object.fromEntries(
    statuses.map(status => [
      String(status),
      answer(STATUS_TEXTS[status] ?? 'A problem', { 'application/problem+json': { schema: ref('Problem') } }),
    ]),
  )
}

/** What an operation answers and takes, and the statuses of the problems that it may answer instead. */
export interface OperationParts extends Omit<Operation, 'operationId' | 'summary' | 'tags'> {
  readonly problems?: readonly number[]
}

/** Makes an operation. */
export const operation = (
  tag: string,
  operationId: string,
  summary: string,
  { responses, problems: statuses = [], ...parts }: OperationParts,
): Operation => ({
  operationId,
  summary,
  tags: [tag],
  ...parts,
  responses: { ...responses, ...problems(...statuses) },
})

/** One parameter; those of paths are required. */
export const parameter = (
  where: string,
  name: string,
  description: string,
  schema: Schema = { type: 'string' },
): Schema => ({
  in: where,
  name,
  description,
  schema,
  ...(where === 'path' && { required: true }),
})

/** A body of server-sent events, each `data` of which is so. */
export const eventStream = (schema: Schema): Schema => ({ 'text/event-stream': { schema } })
