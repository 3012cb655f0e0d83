/**
 * Security schemes and requirements, as OpenAPI 3.0.3 describes them (sections 4.7.27 to 4.7.30). The OpenAPI document, the
 * agent cards and the documentation page use them.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions } from '../../base/schemas.ts'
import { headerName, isObject } from '../../base/validation.ts'
import type { Middleware } from '../context.ts'
import { credentialOf, schemeNameOf } from './credential.ts'
import { keyHeaders, type Providers } from './key-headers.ts'
import { PART_SCHEMES, type SecurityScheme } from './security-scheme.ts'

/** Security schemes by name. */
export type SecuritySchemes = Readonly<Record<string, SecurityScheme>>

/** A requirement: schemes by name, each with the scopes that are needed. A request has to satisfy all of them. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

/** Describes a deployment's authentication in documents. It does not enforce anything. */
export interface SecurityOptions {
  /**
   * OpenAPI 3.0.3 security schemes by name. The OpenAPI document, the agent cards and the documentation page show them;
   * middleware enforces them. Default: those of ready-made authentication in `middleware`. If you give schemes, they
   * replace the default.
   */
  readonly securitySchemes?: SecuritySchemes | undefined
  /**
   * The requirements of a request. It has to satisfy one entry of the list, with all schemes of that entry. Default: any
   * one of `securitySchemes`; with ready-made authentication all schemes together, because each middleware can refuse.
   */
  readonly security?: readonly SecurityRequirement[] | undefined
}

/** The security options with their defaults. */
export interface SecuritySettings {
  /** The schemes by name. Empty if there are none. */
  readonly schemes: SecuritySchemes
  /** A request has to satisfy one of these requirements. Empty: the documents state none. */
  readonly required: readonly SecurityRequirement[]
  /** Whether the middleware has ready-made authentication, so that the open routes are known. */
  readonly isReadyMade: boolean
}

/** Settings without any scheme or requirement. */
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

/** Checks a scheme of OpenAPI 3.0.3. */
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

/** Checks a scheme's name in the document (section 4.7.7). */
const schemeName = v.pipe(v.string(), v.regex(/^[\w.-]+$/, 'must have a name of letters, digits and -._'))

/** Checks `securitySchemes`. */
export const SecuritySchemesSchema: v.GenericSchema<unknown> = schemesOf(SchemeSchema)

/** Makes the schema of schemes by name. Each of them must match `scheme`. */
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

/** Checks `securitySchemes` and `security`. Throws `invalid_options`. */
export function checkSecurity({ securitySchemes, security }: SecurityOptions): void {
  checkOptions('securitySchemes', v.optional(SecuritySchemesSchema), securitySchemes)
  checkOptions('security', v.optional(SecuritySchema), security)
}

/** What the defaults depend on, besides the options. */
export interface SecurityParts {
  readonly middleware: readonly Middleware[]
  readonly providers: Providers
}

/**
 * Fills in the defaults. Throws `invalid_options` if a requirement names an unknown scheme, or a scheme's name is taken.
 */
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

/** Throws `invalid_options` if a requirement names an unknown scheme. `option` is the name of the option in the error. */
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

/** Throws `invalid_options` if the document has another scheme of that name. */
function checkName(name: string, keys: readonly string[]): void {
  const taken: readonly string[] = [...keys.map(schemeNameOf), ...Object.values(PART_SCHEMES)]
  if (!taken.includes(name)) return
  throw new ServableError(
    'invalid_options',
    `\`securitySchemes\`: the document has another scheme named \`${name}\`: choose another name`,
  )
}
