/**
 * Cross-origin resource sharing (WHATWG Fetch, section 3.2).
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'

/** Which pages may call from a browser, and how. */
export interface CorsOptions {
  /** `'*'` for any origin, a list of origins (`https://app.example.com`), or a function that tests an origin. */
  readonly origins: '*' | readonly string[] | ((origin: string) => boolean)
  /** Allows cookies and HTTP authentication. Not possible with `'*'`. Default: false. */
  readonly credentials?: boolean
  /** Request headers to allow beyond the built-in ones. */
  readonly allowedHeaders?: readonly string[]
  /** Response headers to expose beyond the built-in ones. */
  readonly exposedHeaders?: readonly string[]
}

/** The CORS setting: off, any origin, a list of origins, or all options. */
export type CorsSetting = boolean | readonly string[] | CorsOptions

/** Answers preflights and marks responses. */
export interface Cors {
  /** The answer to a preflight. Undefined if the request is not a preflight. */
  preflight(request: Request, methods: readonly string[]): Response | undefined
  /** Adds the headers that let the request's origin read the response. */
  mark(request: Request, headers: Headers): void
  /** Whether a page of this origin may call. */
  allows(origin: string): boolean
  /** Whether any page may call, without credentials. */
  readonly isOpen: boolean
}

const ALLOWED = [
  'authorization',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'prefer',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'x-request-id',
  'x-service-key',
  'x-api-key',
  'traceparent',
]

const EXPOSED = [
  'x-run-id',
  'x-request-id',
  'location',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'content-disposition',
  'content-location',
  'x-pagination-total',
  'x-pagination-next',
  'x-error-code',
  'a2a-extensions',
  'x-a2a-extensions',
]

/** How long a browser may keep the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = '600'

/** Builds the CORS part once. `keyHeaders` are the provider key headers to allow. Undefined if CORS is off. */
export function createCors(setting: CorsSetting, keyHeaders: readonly string[]): Cors | undefined {
  if (setting === false) return undefined
  const options = toOptions(setting)
  const { origins, credentials = false } = options
  const isOpen = origins === '*'
  const allowedHeaders = [...ALLOWED, ...keyHeaders, ...(options.allowedHeaders ?? [])].join(', ')
  const exposedHeaders = [...EXPOSED, ...(options.exposedHeaders ?? [])].join(', ')
  const allows =
    typeof origins === 'function' ? guarded(origins) : (origin: string) => isOpen || origins.includes(origin)

  const mark: Cors['mark'] = (request, headers) => {
    if (!isOpen) headers.append('vary', 'origin')
    const origin = request.headers.get('origin')
    if (origin === null || !allows(origin)) return
    headers.set('access-control-allow-origin', isOpen ? '*' : origin)
    headers.set('access-control-expose-headers', exposedHeaders)
    if (credentials) headers.set('access-control-allow-credentials', 'true')
  }

  return {
    mark,
    allows,
    isOpen,
    preflight(request, methods) {
      const asked = request.headers.get('access-control-request-method')
      if (request.method !== 'OPTIONS' || asked === null || !request.headers.has('origin')) return undefined
      const headers = new Headers({
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': allowedHeaders,
        'access-control-max-age': PREFLIGHT_SECONDS,
      })
      return new Response(null, { status: 204, headers })
    },
  }
}

/** Calls the deployment's own test. An origin on which the test throws is not allowed. */
function guarded(test: (origin: string) => boolean): (origin: string) => boolean {
  return origin => {
    try {
      return test(origin) === true
    } catch {
      return false
    }
  }
}

function toOptions(setting: true | readonly string[] | CorsOptions): CorsOptions {
  if (setting === true) return { origins: '*' }
  return 'origins' in setting ? setting : { origins: setting }
}

/**
 * Throws `invalid_options` for credentials together with any origin. Browsers refuse that combination (WHATWG Fetch, section
 * 3.2.3), so it can only be a mistake.
 */
export function checkCredentials(name: string, setting: CorsSetting): void {
  if (typeof setting !== 'object' || !('origins' in setting)) return
  if (setting.origins !== '*' || setting.credentials !== true) return
  throw new ServableError(
    'invalid_options',
    `\`${name}.credentials\` needs \`${name}.origins\` to name the origins, not '*'`,
  )
}
