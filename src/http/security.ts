/**
 * Security schemes and requirements, as OpenAPI 3.0.3 describes them (sections 4.7.27 to 4.7.30). The OpenAPI document, the
 * agent cards and the documentation page use them.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../errors.ts'
import { checkOptions } from '../schemas.ts'
import { headerName, isObject } from '../validation.ts'
import type { Middleware } from './context.ts'
import { credentialOf, schemeNameOf } from './credential.ts'
import { keyHeaders, type Providers } from './key-headers.ts'
import { PART_SCHEMES } from './part-schemes.ts'
import type { SecurityScheme } from './security-scheme.ts'

/** Schemes by name. */
export type SecuritySchemes = Readonly<Record<string, SecurityScheme>>

/** Schemes that must be met together, by name, each with the scopes that are needed. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

/** What a deployment says of its own authentication. */
export interface SecurityOptions {
  /**
   * Who is let in, as the OpenAPI document, the agent cards and the documentation page tell it: OpenAPI 3.0.3 security schemes
   * by name. `middleware` is what enforces them. Default: those of `bearerAuth` and `apiKeyAuth` in `middleware`; what is
   * given here stands in their place.
   */
  readonly securitySchemes?: SecuritySchemes | undefined
  /**
   * Which of the schemes a request needs: one of the list, with all of its schemes. Default: any one of `securitySchemes`;
   * of the ready-made authentication all together, since each of it refuses.
   */
  readonly security?: readonly SecurityRequirement[] | undefined
}

/** Who is let in, with every default in place. */
export interface SecuritySettings {
  readonly schemes: SecuritySchemes
  /** Any one of these lets a client in. None: nothing is said. */
  readonly required: readonly SecurityRequirement[]
  /** Ready-made authentication stands in the middleware, so it is known what is open to everyone. */
  readonly isReadyMade: boolean
}

/** Nothing is said of who is let in. */
export const NO_SECURITY: SecuritySettings = { schemes: {}, required: [], isReadyMade: false }

const text = v.pipe(v.string(), v.nonEmpty('must not be empty'))
const address = v.pipe(
  v.string(),
  v.check(url => URL.canParse(url), 'must be an absolute address'),
)
const described = { description: v.optional(v.string()) }
const flow = { refreshUrl: v.optional(address), scopes: v.record(v.string(), v.string()) }

const FLOWS = {
  authorizationCode: v.optional(v.strictObject({ ...flow, authorizationUrl: address, tokenUrl: address })),
  clientCredentials: v.optional(v.strictObject({ ...flow, tokenUrl: address })),
  implicit: v.optional(v.strictObject({ ...flow, authorizationUrl: address })),
  password: v.optional(v.strictObject({ ...flow, tokenUrl: address })),
}

/** Checks one scheme. */
export const SchemeSchema: v.GenericSchema<unknown> = v.variant('type', [
  v.variant('in', [
    v.strictObject({ ...described, type: v.literal('apiKey'), in: v.literal('header'), name: headerName }),
    v.strictObject({
      ...described,
      type: v.literal('apiKey'),
      in: v.picklist(['query', 'cookie']),
      name: text,
    }),
  ]),
  v.strictObject({
    ...described,
    type: v.literal('http'),
    scheme: text,
    bearerFormat: v.optional(v.string()),
  }),
  v.strictObject({ ...described, type: v.literal('oauth2'), flows: v.strictObject(FLOWS) }),
  v.strictObject({ ...described, type: v.literal('openIdConnect'), openIdConnectUrl: address }),
])

/** A name by which the document can point at a scheme (section 4.7.7). */
const schemeName = v.pipe(v.string(), v.regex(/^[\w.-]+$/, 'must have a name of letters, digits and -._'))

/** Checks `securitySchemes`. */
export const SecuritySchemesSchema: v.GenericSchema<unknown> = schemesOf(SchemeSchema)

/** Checks schemes by name, each of which is so. */
export function schemesOf(scheme: v.GenericSchema<unknown>): v.GenericSchema<unknown> {
  return v.pipe(
    v.custom<Record<string, unknown>>(isObject, 'must be an object of names and security schemes'),
    v.record(schemeName, scheme),
  )
}

/** Checks `security`. */
export const SecuritySchema: v.GenericSchema<unknown> = v.array(
  v.record(v.string(), v.array(v.string(), 'must be an array of scopes')),
  'must be an array of requirements',
)

/** Checks both. Throws `invalid_options`. */
export function checkSecurity({ securitySchemes, security }: SecurityOptions): void {
  checkOptions('securitySchemes', v.optional(SecuritySchemesSchema), securitySchemes)
  checkOptions('security', v.optional(SecuritySchema), security)
}

/** What is known besides the options. */
export interface SecurityParts {
  readonly middleware: readonly Middleware[]
  readonly providers: Providers
}

/** Fills in the defaults. Throws `invalid_options` for what does not go together. */
export function resolveSecurity(
  { securitySchemes, security }: SecurityOptions,
  { middleware, providers }: SecurityParts,
): SecuritySettings {
  const readyMade = middleware.map(credentialOf).filter(each => each !== undefined)
  const keys = keyHeaders(providers)
  const schemes = securitySchemes ?? Object.fromEntries(readyMade.map(({ name, scheme }) => [name, scheme]))
  for (const name of Object.keys(schemes)) checkName(name, keys)
  const all = Object.keys(schemes).map(name => ({ [name]: [] }))
  const together = all.length === 0 ? [] : [Object.assign({}, ...all)]
  const required = security ?? (securitySchemes === undefined ? together : all)
  checkRequirements(required, schemes, 'security')
  return { schemes, required, isReadyMade: readyMade.length > 0 }
}

/** Throws `invalid_options` where a requirement names a scheme that is not there. */
export function checkRequirements(
  required: readonly SecurityRequirement[],
  schemes: Readonly<Record<string, unknown>>,
  option: string,
): void {
  const unknown = required.flatMap(Object.keys).find(name => !Object.hasOwn(schemes, name))
  if (unknown === undefined) return
  throw new ServableError(
    'invalid_options',
    `\`${option}\` names \`${unknown}\`, which is not in \`${option}Schemes\``,
  )
}

/** The document has other schemes beside these. */
function checkName(name: string, keys: readonly string[]): void {
  const taken: readonly string[] = [...keys.map(schemeNameOf), ...Object.values(PART_SCHEMES)]
  if (!taken.includes(name)) return
  throw new ServableError(
    'invalid_options',
    `\`securitySchemes\`: the document has another scheme named \`${name}\`: choose another name`,
  )
}
