/**
 * Builders for the parts of the OpenAPI document. The document passes them to plugins, so that a plugin
 * carries no such code if there is no document.
 *
 * @module
 */

import type { GenericSchema } from 'valibot'
import type { Kind } from '../agents/contract.ts'
import type { Findable } from '../http/router.ts'
import type { SecurityRequirement } from '../http/security/security.ts'

/**
 * The part of the OpenAPI document (OpenAPI 3.0.3) that a plugin adds. If two parts have the same name (a tag, a schema, a
 * method of a path, an `operationId`), the first stays and the other is left out. The core comes first, then the plugins in
 * their order.
 */
export interface Description {
  readonly tags?: readonly { readonly name: string; readonly description: string }[]
  /** Operations by method, by absolute path with `{name}` for a parameter, in the order in which they are shown. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>
  /**
   * Schemas by name for `#/components/schemas/…`, in addition to the core's: `RunBody`, `RunResult`, `RunEvent`, `RunRecord`,
   * `Problem` and others.
   */
  readonly schemas?: Readonly<Record<string, object>>
  readonly securitySchemes?: Readonly<Record<string, object>>
  /** Request bodies by name, as the valibot schemas that check them. */
  readonly bodies?: Readonly<Record<string, GenericSchema>>
  /** The security of its operations that do not state their own. One requirement suffices. Default: as for the handler. */
  readonly security?: readonly SecurityRequirement[]
}

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

/** Which authentication the document or an operation requires. */
export interface Secured {
  /** Alternatives, one of which suffices. An empty list means that no authentication is needed. Default: as the document says. */
  readonly security?: readonly SecurityRequirement[]
}

/** Operations by method. */
export type Operations = Readonly<Record<string, Operation>>

/** Operations by path. */
export type Paths = Readonly<Record<string, Operations>>

/** The request and responses of an operation, and the statuses of the problems that it may answer. */
export interface OperationParts extends Omit<Operation, 'operationId' | 'summary' | 'tags'> {
  readonly problems?: readonly number[]
}

/** Fields by name. A name that ends with a question mark is optional. */
export type SchemaFields = Readonly<Record<string, Schema>>

/** Builds the parts of a description. */
export interface Builders extends SchemaBuilders {
  /** The prefix of the paths in the document. */
  readonly prefix: string
  /** The security of an operation that ready-made authentication does not require credentials for. */
  readonly open: Secured
  /** A path below the prefix. */
  at(path: string): string
  operation(tag: string, operationId: string, summary: string, parts: OperationParts): Operation
  /** One response. */
  answer(description: string, content: Schema, headers?: Schema): Schema
  /** A JSON body, with an optional example. */
  json(schema: Schema, example?: unknown): Schema
  /** A body of server-sent events. The `data` of each has this schema. */
  eventStream(schema: Schema): Schema
  /** One parameter, text by default. Parameters of paths are required. */
  parameter(where: 'path' | 'query' | 'header', name: string, description: string, schema?: Schema): Schema
  /** The path parameter `name` of servables of this kind. */
  nameOf(kind: Kind): Schema
  /** A discovery operation: a GET without a body. */
  read(operationId: string, summary: string, schema: Schema): Operation
  /**
   * An operation that answers one page of the schema with that name. With `event`, it also answers server-sent events of that
   * schema.
   */
  page(
    tag: string,
    operationId: string,
    summary: string,
    name: string,
    own: readonly Schema[],
    event?: string,
  ): Operation
  /** Operations of a protocol that has its own documentation, which describes their bodies and answers. */
  routes(routes: readonly Findable[], protocol: string): { readonly paths: Paths }
  /** The token that the operations of a plugin with its own `authenticate` require. */
  token(
    name: string,
    description: string,
    scheme?: string,
  ): Required<Pick<Description, 'security' | 'securitySchemes'>>
}

/** Builds schemas. */
export interface SchemaBuilders {
  /** A reference to a schema of the document. */
  ref(name: string): Schema
  object(fields: SchemaFields, description?: string): Schema
  list(items: Schema): Schema
  /** An object with values by name. */
  named(values: Schema): Schema
  choice(...values: readonly string[]): Schema
  /** An event: its type and its other fields. */
  event(type: string, fields: SchemaFields): Schema
  readonly text: Schema
  readonly maybeText: Schema
  readonly flag: Schema
  readonly count: Schema
  readonly amount: Schema
  readonly moment: Schema
  /** A text to search for. */
  readonly searchTerm: Schema
}
