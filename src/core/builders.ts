/**
 * Builders for the parts of the OpenAPI document. The document passes them to the plugins of this package, so that a plugin
 * carries no such code if there is no document.
 *
 * @module
 */

import type { GenericSchema } from 'valibot'
import type { Kind } from '../agents/contract.ts'
import type { Findable } from '../http/router.ts'
import type { SecurityRequirement } from '../http/security/security.ts'
import type { Description } from './description.ts'

/** A schema of OpenAPI 3.0, or another object of its document. */
export type Schema = Readonly<Record<string, unknown>>

/** One operation of an OpenAPI document. */
export interface Operation extends Secured {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Schema[]
  readonly requestBody?: Schema
  readonly responses: Readonly<Record<string, Schema>>
}

/** What the document or an operation says of who is let in. */
export interface Secured {
  /** Any one of these lets a client in; an empty list everyone. Default: as the document says. */
  readonly security?: readonly SecurityRequirement[]
}

/** Operations by method. */
export type Operations = Readonly<Record<string, Operation>>

/** Operations by path. */
export type Paths = Readonly<Record<string, Operations>>

/** What an operation answers and takes, and the statuses of the problems that it may answer instead. */
export interface OperationParts extends Omit<Operation, 'operationId' | 'summary' | 'tags'> {
  readonly problems?: readonly number[]
}

/** Fields by name; one whose name ends with a question mark may be missing. */
export type Fields = Readonly<Record<string, Schema>>

/** What a plugin of this package adds to the document. */
export interface BuiltInDescription extends Description {
  /** Bodies of requests, by the schemas that check them. */
  readonly bodies?: Readonly<Record<string, GenericSchema>>
}

/** Makes what a description is made of. */
export interface Builders extends SchemaBuilders {
  /** The prefix that the document states. */
  readonly prefix: string
  /** What an operation says that ready-made authentication leaves open. */
  readonly open: Secured
  /** A path below the prefix. */
  at(path: string): string
  operation(tag: string, operationId: string, summary: string, parts: OperationParts): Operation
  /** One response. */
  answer(description: string, content: Schema, headers?: Schema): Schema
  /** A body of JSON, perhaps with an example. */
  json(schema: Schema, example?: unknown): Schema
  /** A body of server-sent events, each `data` of which is so. */
  eventStream(schema: Schema): Schema
  /** One parameter, text by default; those of paths are required. */
  parameter(where: 'path' | 'query' | 'header', name: string, description: string, schema?: Schema): Schema
  /** The parameter `name` of a path below those of a kind. */
  nameOf(kind: Kind): Schema
  /** An operation of discovery that only answers. */
  read(operationId: string, summary: string, schema: Schema): Operation
  /** An operation that answers one page, of the schema of that name; with `event`, also as server-sent events of that schema. */
  page(
    tag: string,
    operationId: string,
    summary: string,
    name: string,
    own: readonly Schema[],
    event?: string,
  ): Operation
  /** Operations of a protocol that has documents of its own: they tell what is taken and answered. */
  routes(routes: readonly Findable[], protocol: string): { readonly paths: Paths }
  /** A token that the operations demand of a plugin with an `authenticate` of its own. */
  token(
    name: string,
    description: string,
    scheme?: string,
  ): Required<Pick<Description, 'security' | 'securitySchemes'>>
}

/** Makes schemas. */
export interface SchemaBuilders {
  /** Points at a schema of the document. */
  ref(name: string): Schema
  object(fields: Fields, description?: string): Schema
  list(items: Schema): Schema
  /** Values by name. */
  named(values: Schema): Schema
  choice(...values: readonly string[]): Schema
  /** An event: its type, and what comes with it. */
  event(type: string, fields: Fields): Schema
  readonly text: Schema
  readonly maybeText: Schema
  readonly flag: Schema
  readonly count: Schema
  readonly amount: Schema
  readonly moment: Schema
}
