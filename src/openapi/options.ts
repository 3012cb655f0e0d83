/** How the API is documented (specification, "SwaggerOptions"). */
export interface SwaggerOptions {
  /** Serves the OpenAPI document. */
  readonly enabled: boolean
  /** Default `Service API`. */
  readonly title?: string
  readonly description?: string
  /** Version of the API, as the document states it. Default `1.0.0`. */
  readonly version?: string
  /** The prefix that the document states, where a proxy changes it. Default: the handler's. */
  readonly routePrefix?: string
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  /** Path of the OpenAPI document, below the prefix. Default `/docs/spec.json`. */
  readonly specPath?: string
}

/** The options with their defaults. */
export type SwaggerSettings = Required<Pick<SwaggerOptions, 'title' | 'version' | 'specPath'>> &
  Pick<SwaggerOptions, 'description' | 'routePrefix' | 'servers'>

/** Fills in the defaults. */
export function resolveSwagger({ enabled: _, ...options }: Partial<SwaggerOptions>): SwaggerSettings {
  const { title = 'Service API', version = '1.0.0', specPath = '/docs/spec.json' } = options
  return { ...options, title, version, specPath }
}
