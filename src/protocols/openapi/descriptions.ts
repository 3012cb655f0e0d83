/**
 * Reads the descriptions of the core and the plugins for the document.
 *
 * @module
 */

import { type JsonSchema, type OverrideSchemaContext, toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { validate } from '../../base/validation.ts'
import type { Description, Operation, Paths, Schema } from '../../core/builders.ts'
import { SecuritySchema } from '../../http/security/security.ts'

type Schemas = Readonly<Record<string, Schema>>

/** A complete description. Its operations state their own security requirements. */
export interface CompleteDescription {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Paths
  readonly bodies: Schemas
  readonly schemas: Schemas
  readonly securitySchemes: Schemas
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

const named = v.optional(v.record(v.string(), v.looseObject({})))
const operation = v.looseObject({
  operationId: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  security: v.optional(SecuritySchema),
})

const DescriptionSchema = v.object({
  tags: v.optional(v.array(v.object({ name: v.string(), description: v.string() }))),
  paths: v.optional(
    v.record(
      v.pipe(v.string(), v.startsWith('/', 'must begin with /')),
      v.record(v.picklist(METHODS), operation),
    ),
  ),
  schemas: named,
  securitySchemes: named,
  security: v.optional(SecuritySchema),
})

/** Returns a checked copy of a plugin's description. Throws if it is not valid. */
export function checkDescription({ bodies, ...description }: Description): Description {
  // A value that is not JSON would make the whole document fail later.
  const copy: Description = JSON.parse(JSON.stringify(description))
  validate(DescriptionSchema, copy, 'invalid_options', 'describe()')
  return { ...copy, ...(bodies && { bodies }) }
}

/** Fills in the defaults of a description. */
export function readDescription(description: Description): CompleteDescription {
  const { bodies = {}, tags = [], schemas = {}, securitySchemes = {}, security } = description
  const paths = (description.paths ?? {}) as Paths
  const secured = (each: Operation): Operation =>
    security === undefined || each.security !== undefined ? each : { ...each, security }
  return {
    tags,
    paths: mapped(paths, operations => mapped(operations, secured)),
    bodies: mapped(
      bodies,
      body => toJsonSchema(body, { target: 'openapi-3.0', errorMode: 'ignore', overrideSchema }) as Schema,
    ),
    schemas: schemas as Schemas,
    securitySchemes: securitySchemes as Schemas,
  }
}

/** OpenAPI 3.0 does not allow an empty `required`. */
function overrideSchema({ jsonSchema }: OverrideSchemaContext): JsonSchema | undefined {
  const { required = [''], ...rest } = jsonSchema
  return required.length === 0 ? rest : undefined
}

/** Whether all operations of a description are about runs. */
export function isOnRuns({ paths }: CompleteDescription): boolean {
  const all = Object.values(paths).flatMap(operations => Object.values(operations))
  return all.length > 0 && all.every(({ tags = [] }) => tags.some(tag => tag === 'run' || tag === 'runs'))
}

/** Makes a function that removes from each description what an earlier one contains. */
export function createClaims(): (description: CompleteDescription) => CompleteDescription {
  const taken = new Set<string>()
  const take = (what: string) => !taken.has(what) && taken.add(what) !== undefined
  const spelled = new Map<string, string>()
  /** Paths that differ only in the names of their parameters are one path. */
  const isSpelled = (path: string) => {
    const template = path.replace(/\{[^}]*\}/g, '{}')
    if (!spelled.has(template)) spelled.set(template, path)
    return spelled.get(template) === path
  }
  const named = (all: Schemas, what: string) => kept(all, name => take(`${what} ${name}`))
  const isNew = (path: string, method: string, { operationId }: Operation) =>
    take(`${method} ${path}`) && (operationId === undefined || take(`operation ${operationId}`))
  return ({ tags, paths, bodies, schemas, securitySchemes }) => ({
    tags: tags.filter(({ name }) => take(`tag ${name}`)),
    paths: kept(
      mapped(kept(paths, isSpelled), (operations, path) =>
        kept(operations, (method, operation) => isNew(path, method, operation)),
      ),
      (_, operations) => Object.keys(operations).length > 0,
    ),
    bodies: named(bodies, 'schema'),
    schemas: named(schemas, 'schema'),
    securitySchemes: named(securitySchemes, 'scheme'),
  })
}

type ByName<T> = Readonly<Record<string, T>>

function mapped<T, U>(values: ByName<T>, map: (value: T, name: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))
}

function kept<T>(values: ByName<T>, isKept: (name: string, value: T) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => isKept(name, value)))
}
