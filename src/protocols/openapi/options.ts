import type { DocsAssets } from './page.ts'

/** Options of the OpenAPI document and its page. */
export interface SwaggerOptions {
  /** Serves the OpenAPI document. */
  readonly enabled: boolean
  /** Title of the API. Default: `API of the agents`. */
  readonly title?: string
  /** Description of the API. Default: none. */
  readonly description?: string
  /** Version of the API in the document. Default: `1.0.0`. */
  readonly version?: string
  /** The prefix in the document, if a proxy changes it. Default: the handler's. */
  readonly routePrefix?: string
  /** The servers in the document. Default: none. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  /**
   * The files of Swagger UI: `swaggerUi()` of `servable/swagger-ui`, or `workerAssets()` of `servable/cloudflare`. Default:
   * none. Without them there is only the document, and no page.
   */
  readonly assets?: DocsAssets
  /** Path of the OpenAPI document, below the prefix. Default: `/docs/spec.json`. */
  readonly specPath?: string
}

/** Default path of the document. */
export const SPEC_PATH = '/docs/spec.json'

/** The options with their defaults. */
export type SwaggerSettings = Required<Pick<SwaggerOptions, 'title' | 'version' | 'specPath'>> &
  Pick<SwaggerOptions, 'description' | 'routePrefix' | 'servers' | 'assets'>

/** Fills in the defaults. */
export function resolveSwagger({ enabled: _, ...options }: Partial<SwaggerOptions>): SwaggerSettings {
  const { title = 'API of the agents', version = '1.0.0', specPath = SPEC_PATH } = options
  return { ...options, title, version, specPath }
}
