/**
 * What the core and the plugins tell of themselves, as the document takes it.
 *
 * @module
 */

import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import type { BuiltInDescription, Operation, Paths, Schema } from '../core/builders.ts'
import { SecuritySchema } from '../http/security.ts'
import { validate } from '../validation.ts'

type Schemas = Readonly<Record<string, Schema>>

/** A description that has been read: it is JSON, and its operations say themselves what they demand. */
export interface Told {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Paths
  readonly bodies: Schemas
  readonly schemas: Schemas
  readonly securitySchemes: Schemas
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

const object = v.looseObject({})
const schemas = v.optional(v.record(v.string(), object), {})

const DescriptionSchema = v.object({
  tags: v.optional(v.array(v.object({ name: v.string(), description: v.string() })), []),
  paths: v.optional(
    v.record(v.pipe(v.string(), v.startsWith('/')), v.record(v.picklist(METHODS), object)),
    {},
  ),
  schemas,
  securitySchemes: schemas,
  security: v.optional(SecuritySchema),
})

/** Reads a description. Throws where it is none. */
export function readDescription({ bodies = {}, ...description }: BuiltInDescription): Told {
  // What is no JSON would be found out when the document is written, and would spoil all of it.
  const { paths, security, ...told } = validate(
    DescriptionSchema,
    JSON.parse(JSON.stringify(description)),
    'invalid_options',
    'describe()',
  )
  const secured = (operation: object) => ({
    ...operation,
    ...(security !== undefined && !('security' in operation) && { security }),
  })
  return {
    ...told,
    paths: mapped(paths, operations => mapped(operations, secured)) as Paths,
    bodies: mapped(bodies, body =>
      toJsonSchema(body, { target: 'openapi-3.0', errorMode: 'ignore' }),
    ) as Schemas,
  }
}

/** Whether all that it tells of are runs. */
export function isOnRuns({ paths }: Told): boolean {
  const all = Object.values(paths).flatMap(operations => Object.values(operations))
  return all.length > 0 && all.every(({ tags = [] }) => tags.some(tag => tag === 'run' || tag === 'runs'))
}

/** Leaves out of each description what one before it has said. */
export function createClaims(): (told: Told) => Told {
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
