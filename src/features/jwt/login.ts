/**
 * Lets users log in with the console by OpenID Connect (Core 1.0, section 3.1): the authorization code flow with PKCE (RFC 7636).
 *
 * @module
 */

import { base64url } from 'jose'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { type Context, RequestState } from '../../http/context.ts'
import type { Login } from '../../http/security/login.ts'
import { checkLogin, type OidcLoginOptions } from './options.ts'
import {
  addressIn,
  configurationAt,
  FETCH_MS,
  FRESH_MS,
  fetchJson,
  inTime,
  PAUSE_WITHOUT_KEYS_MS,
} from './remote-keys.ts'
import { type Accept, accepterOf, identityIn, TokenError } from './tokens.ts'

/** The cookie with the id token of a user who has logged in. Browsers take it only from the host itself, over TLS (`__Host-`). */
const SESSION = '__Host-servable'

/** The cookie of a login that has begun: `state`, `nonce` and the verifier of PKCE. */
const BEGUN = '__Host-servable-login'

/** Seconds that a login may take. */
const LOGIN_S = 600

/** Characters that an id token may have. Browsers drop longer cookies. */
const MAX_TOKEN = 3800

/**
 * A login of the console by an identity provider: `webConsole({ login: oidcLogin({ issuer, clientId, clientSecret }) })`. Register
 * `{address of the console}/callback` as redirect URI there. The provider's id token is kept in a cookie that no script can read,
 * until it expires. Throws `invalid_options`.
 */
export function oidcLogin(options: OidcLoginOptions): Login {
  checkLogin(options)
  const { issuer, clientId, scopes = [], identity, clockToleranceS, allow = [] } = options
  const accept = accepterOf({ issuer, audience: clientId, identity, clockToleranceS, allow }, 'oidcLogin')
  const endpoints = kept(() => endpointsOf(issuer, allow))
  return {
    async begin(callback, request, context) {
      const [state, nonce, verifier] = [random(), random(), random()]
      const { authorization } = await endpoints().catch(cause => {
        failed(cause, request, context)
        throw new ServableError('provider_failed', 'The identity provider cannot be reached', { cause })
      })
      const to = new URL(authorization)
      const query = {
        ...{ response_type: 'code', client_id: clientId, redirect_uri: callback },
        ...{ scope: ['openid', ...scopes].join(' '), state, nonce },
        ...{ code_challenge: await challengeOf(verifier), code_challenge_method: 'S256' },
      }
      for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value)
      // The provider's page sends the browser back, so the cookie must be `Lax`.
      return redirect(to.href, [cookieOf(BEGUN, [state, nonce, verifier].join('.'), LOGIN_S, 'Lax')])
    },

    async finish(callback, page, request, context) {
      const gone = cookieOf(BEGUN, '', 0, 'Lax')
      try {
        const [state = '', nonce = '', verifier = ''] = (cookieIn(request, BEGUN) ?? '').split('.')
        const query = new URL(request.url).searchParams
        const code = codeIn(query, state, issuer)
        const { token } = await endpoints()
        const idToken = await exchange(token, code, { callback, verifier, options })
        const expiresAt = await check(idToken, nonce, clientId, accept)
        const forS = Math.max(0, Math.floor(expiresAt - Date.now() / 1000))
        return redirect(page, [gone, cookieOf(SESSION, idToken, forS, 'Strict')])
      } catch (cause) {
        failed(cause, request, context)
        return redirect(`${page}?login=failed`, [gone])
      }
    },

    async identify(request, context) {
      const token = cookieIn(request, SESSION)
      return token === undefined ? undefined : identityIn(token, accept, request, context)
    },

    end: () =>
      new Response(null, { status: 204, headers: { 'set-cookie': cookieOf(SESSION, '', 0, 'Strict') } }),
  }
}

interface Endpoints {
  readonly authorization: string
  readonly token: string
}

async function endpointsOf(issuer: string, allow: readonly string[]): Promise<Endpoints> {
  const configuration = await configurationAt(issuer, allow, AbortSignal.timeout(FETCH_MS))
  const at = (name: string) => addressIn(configuration, name, issuer)
  return { authorization: at('authorization_endpoint'), token: at('token_endpoint') }
}

/** Loads a value when it is needed, again after ten minutes, and five seconds after a failure. Requests at once share one load. */
function kept<T>(load: () => Promise<T>): () => Promise<T> {
  let value: T | undefined
  let loading: Promise<unknown> | undefined
  let dueAt = 0
  return async () => {
    if (performance.now() >= dueAt) {
      dueAt = performance.now() + PAUSE_WITHOUT_KEYS_MS
      loading = load().then(loaded => {
        value = loaded
        dueAt = performance.now() + FRESH_MS
      })
    }
    if (value === undefined) await inTime(Promise.resolve(loading))
    else loading?.catch(() => {})
    return value as T
  }
}

/** Returns the code of a user who comes back. Throws if the provider refused, or did not send this browser back. */
function codeIn(query: URLSearchParams, state: string, issuer: string): string {
  if (state === '' || query.get('state') !== state)
    throw new TokenError('The login was not begun by this browser')
  // RFC 9207, section 2.4.
  if (query.has('iss') && query.get('iss') !== issuer) throw new TokenError('Another issuer has answered')
  const code = query.get('code')
  if (code === null) throw new TokenError(`The provider refused: ${query.get('error')?.slice(0, 100)}`)
  return code
}

/** Exchanges a code for an id token (RFC 6749, section 4.1.3). */
async function exchange(
  endpoint: string,
  code: string,
  { callback, verifier, options }: { callback: string; verifier: string; options: OidcLoginOptions },
): Promise<string> {
  const { clientId, clientSecret, allow = [] } = options
  const body = new URLSearchParams({
    ...{ grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier },
    ...(clientSecret === undefined && { client_id: clientId }),
  })
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    ...(clientSecret !== undefined && { authorization: basic(clientId, clientSecret) }),
  }
  const init = { method: 'POST', headers, body: body.toString() }
  const answer = await inTime(fetchJson(endpoint, init, allow, AbortSignal.timeout(FETCH_MS)))
  const { id_token: token } = isObject(answer) ? answer : {}
  if (typeof token === 'string') return token
  throw new Error(`${endpoint} answered without an \`id_token\``)
}

/** The credentials of a client (RFC 6749, section 2.3.1). */
function basic(id: string, secret: string): string {
  return `Basic ${btoa([id, secret].map(encodeForm).join(':'))}`
}

function encodeForm(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice(2)
}

/** Checks an id token, and returns when it expires, in seconds since 1970. */
async function check(token: string, nonce: string, clientId: string, accept: Accept): Promise<number> {
  if (token.length > MAX_TOKEN) {
    throw new TokenError(
      `The id token has ${token.length} characters, and a cookie at most ${MAX_TOKEN}: ask for fewer claims`,
    )
  }
  const { identity, claims } = await accept(token)
  if (claims.nonce !== nonce) throw new TokenError('The id token is of another login')
  if (claims.azp !== undefined && claims.azp !== clientId)
    throw new TokenError('The id token is for another client')
  if (identity === undefined) throw new TokenError('`identity` refuses this user')
  return claims.exp ?? 0
}

function random(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)))
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return base64url.encode(new Uint8Array(digest))
}

function redirect(to: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location: to, 'cache-control': 'no-store' })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}

function cookieOf(name: string, value: string, forS: number, sameSite: 'Lax' | 'Strict'): string {
  return `${name}=${value}; Path=/; Max-Age=${forS}; Secure; HttpOnly; SameSite=${sameSite}`
}

function cookieIn({ headers }: Request, name: string): string | undefined {
  const start = `${name}=`
  const found = (headers.get('cookie') ?? '').split(/; */).find(each => each.startsWith(start))
  return found?.slice(start.length) || undefined
}

/** Logs a login that failed. Reasons that lie with the user are no errors. */
function failed(cause: unknown, request: Request, context: Context): void {
  if (!(context instanceof RequestState)) return
  context.logThrown('login.failed', cause, request, cause instanceof TokenError ? 'info' : 'error')
}
