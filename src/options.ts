/**
 * The options of `createHandler` of `servable`, and the plugins that they select.
 *
 * The entries, `index.ts`, `core-entry.ts`, `handler.ts` and this file, may import every door but `runtimes`, `command` and
 * `client`.
 *
 * @module
 */

import { defaultRegistry } from './agents/registry.ts'
import type { Tool, Toolkit } from './agents/tool.ts'
import { isServableError, ServableError } from './base/errors.ts'
import { isObject } from './base/validation.ts'
import { asPlugin } from './core/built-in.ts'
import { memoryState } from './core/local-state.ts'
import { type CoreOptions, checkCoreOptions } from './core/options.ts'
import type { Plugin } from './core/plugin.ts'
import { adminSchemas } from './features/admin/describe.ts'
import type { AdminOptions } from './features/admin/options.ts'
import { admin } from './features/admin/plugin.ts'
import { metricsSchemas } from './features/metrics/describe.ts'
import type { MetricsExporter } from './features/metrics/exporter.ts'
import { metricsAs, pricingAlone } from './features/metrics/plugin.ts'
import { corrections } from './features/small/corrections.ts'
import { cors } from './features/small/cors.ts'
import { rateLimit } from './features/small/rate-limit.ts'
import { roles } from './features/small/roles.ts'
import { toolSchemas, toolsOf } from './features/small/tools.ts'
import { trustProxy } from './features/small/trust-proxy.ts'
import { uploadsAs } from './features/small/uploads.ts'
import { toJsonSchema } from './http/json-schema.ts'
import type { RateLimitOptions } from './http/limits/rate-limit.ts'
import type { FileUploadOptions } from './http/limits/upload.ts'
import type { Access } from './http/security/rights.ts'
import { checkSecurity, type SecurityOptions } from './http/security/security.ts'
import type { A2AOptions } from './protocols/a2a/options.ts'
import { a2aOf } from './protocols/a2a/plugin.ts'
import type { GatewayOptions } from './protocols/event-socket/gateway/options.ts'
import { eventSocketAs } from './protocols/event-socket/gateway/plugin.ts'
import type { SwaggerOptions } from './protocols/openapi/options.ts'
import { checkSwagger, openapiAs } from './protocols/openapi/plugin.ts'
import type { Pricing } from './runs/pricing.ts'
import type { TrustProxy } from './web/client-address.ts'
import type { CorsSetting } from './web/cors.ts'

/** The options of a handler. Every member is optional. An unknown or wrong member is a start-up error that names it. */
export interface HandlerOptions extends CoreOptions, SecurityOptions {
  /**
   * How to find the client's address behind a proxy: the number of proxies before the service, the header that the nearest one
   * sets, or a function that knows proxies by their address. The address counts for the limits of requests and sockets, for the
   * slots that clients without an identity share (uploads, runs, tasks, push notifications), for `context.ip` and for the log.
   * Default: no proxy is trusted, so behind one all clients have the proxy's address.
   */
  readonly trustProxy?: TrustProxy
  /**
   * Lets pages of other origins call. `true` allows any origin, but no credentials: a request that changes something is refused
   * if it has a cookie. A named origin may send cookies even without `credentials`; with it, its pages may read the answers too.
   * When false, a request that changes something is answered 403 (`cross_site_request`) if the browser marks it as sent by a page
   * of another origin. Default: false.
   */
  readonly cors?: CorsSetting
  /**
   * What the roles of identities may do with the things of others: the rights of roles by name, or a function. Default: the table
   * of `viewer`, `approver`, `operator` and `admin`.
   */
  readonly access?: Access
  /** Accepts files with a run, as `multipart/form-data`: `true`, or the options. Default: false. */
  readonly fileUpload?: boolean | FileUploadOptions
  /** Toolkits whose tools are listed at `GET /tools`. */
  readonly toolkits?: readonly Toolkit[]
  /** Tools by the name under which they are listed. They win over a toolkit's tool of the same name. */
  readonly toolLibrary?: Readonly<Record<string, Tool>>
  /** Serves an OpenAPI document. Default: off. */
  readonly swagger?: SwaggerOptions
  /** Limits the requests of one client: `true` (100 a minute by address), or the options. Default: off. */
  readonly rateLimit?: boolean | RateLimitOptions
  /** Offers agents to other agents over A2A: `true`, or the options. Default: off. */
  readonly a2a?: true | A2AOptions
  /** Offers runs over an event socket, to Socket.IO clients and plain WebSockets: `true`, or the options. Default: off. */
  readonly gateway?: true | GatewayOptions
  /** Lets administrators manage tool servers (MCP) and see the toolkits: `true`, or the options. Default: off. */
  readonly admin?: boolean | AdminOptions
  /**
   * Prices in USD for a million tokens, by `provider/id` or `id` of the model. Metrics use them for runs that do not report a
   * cost. The cost of a team or workflow is the sum of what its agents used. Default: none.
   */
  readonly pricing?: Pricing
  /** Counts every run, for `GET /metrics`. Default: nothing is counted. */
  readonly metricsExporter?: MetricsExporter
}

/** Makes the options of the core. Throws one `invalid_options` that names every wrong member. */
export function toCoreOptions(options: HandlerOptions): CoreOptions {
  if (!isObject(options as unknown)) checkCoreOptions(options)
  const { cors: corsOption, fileUpload, toolkits, toolLibrary, swagger, ...others } = options
  const { a2a, gateway, admin: adminOption, pricing, metricsExporter, ...more } = others
  const { rateLimit: rateLimitOption, trustProxy: trust, securitySchemes, security, access, ...core } = more
  const found: ServableError[] = []
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (!isServableError(error)) throw error
      found.push(error)
      return undefined
    }
  }
  /** Makes the plugin of an option that is off, on with its defaults, or an object of options. */
  const part = <O extends object>(
    name: string,
    option: boolean | O | undefined,
    make: (how: O) => Plugin,
  ) => {
    if (option === undefined || option === false) return undefined
    if (option !== true && !isObject(option)) return attempt(() => refuse(name, MAYBE))
    // Every member of such options is optional.
    return attempt(() => make(option === true ? ({} as O) : option))
  }
  /** Makes the plugin of an option that cannot be `false`. */
  const given = <O extends object>(name: string, option: true | O | undefined, make: (how: O) => Plugin) =>
    (option as unknown) === false || (option !== undefined && option !== true && !isObject(option))
      ? attempt(() => refuse(name, 'must be true or an object of options'))
      : part(name, option, make)

  attempt(() => checkCoreOptions(core))
  attempt(() => checkSecurity({ securitySchemes, security }))
  if (swagger !== undefined) attempt(() => checkSwagger('swagger', swagger))
  const manager = managerOf(options)
  const plugins = [
    trust === undefined ? undefined : attempt(() => trustProxy(trust)),
    corsOption === undefined ? undefined : attempt(() => cors(corsOption)),
    part('rateLimit', rateLimitOption, rateLimit),
    part('fileUpload', fileUpload, how => uploadsAs('fileUpload', how)),
    swagger?.enabled === true
      ? attempt(() => openapiAs('swagger', { ...swagger, securitySchemes, security }))
      : undefined,
    attempt(() => roles(access)),
    corrections(),
    knownSchemas(),
    attempt(() => toolsOf({ toolkits, toolLibrary, servers: manager })),
    part<AdminOptions>('admin', adminOption, how => admin({ ...how, toolkits, toolLibrary })),
    metricsExporter === undefined
      ? attempt(() => pricingAlone(pricing))
      : attempt(() => metricsAs('metricsExporter', metricsExporter, pricing)),
    given('a2a', a2a, how => a2aOf(how, { securitySchemes, security })),
    given('gateway', gateway, how => eventSocketAs('gateway', how)),
  ]
  if (found.length > 0) throw joined(found)
  return {
    ...core,
    // Nobody asked for a state, so a plain run costs what it costs without one.
    ...(core.state === undefined && { state: memoryState(), runs: { store: 'asked', ...core.runs } }),
    plugins: [...plugins.filter(plugin => plugin !== undefined), ...(core.plugins ?? [])],
  }
}

/** Adds the schemas of these parts to the document even if the parts are off. */
function knownSchemas(): Plugin {
  return asPlugin({
    name: 'known-schemas',
    toJsonSchema,
    mount: () => ({
      describe: build => ({
        schemas: { ...toolSchemas(build), ...adminSchemas(build), ...metricsSchemas(build) },
      }),
    }),
  })
}

const MAYBE = 'must be true, false or an object of options'

function refuse(path: string, message: string): never {
  throw new ServableError('invalid_options', `\`${path}\` ${message}`, { issues: [{ path, message }] })
}

/** The manager of tool servers whose tools are listed. With `admin: true` it is the latest one. */
function managerOf({ admin, registry }: HandlerOptions) {
  if (admin === undefined || admin === false) return undefined
  const { manager }: AdminOptions = admin === true ? {} : admin
  return manager ?? (registry === false ? undefined : (registry ?? defaultRegistry()).toolServers)
}

/** Joins several errors into one. */
function joined(errors: readonly ServableError[]): ServableError {
  const [first] = errors
  if (first !== undefined && errors.length === 1) return first
  const issues = errors.flatMap(error => error.issues)
  return new ServableError('invalid_options', errors.map(({ message }) => message).join('; '), { issues })
}
