/**
 * OAuth 2.1 as a client of one tool server (MCP, authorization). It finds the provider and gets tokens. All requests go through the
 * guarded fetch. No error says what the provider sent, because that may be a secret.
 *
 * @module
 */

import {
  type AuthorizationServerMetadata,
  assertSecureTokenEndpoint,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  fetchToken,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
import type { ToolServerAuth } from '../../agents/tool-servers.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { unless } from '../../base/wake.ts'
import type { AddressPolicy } from '../../web/address.ts'
import { guardedFetch } from './fetch.ts'

/** The provider of a server, as it was found. */
export interface Provider {
  readonly issuer: string
  /** The server, as its tokens name it (RFC 8707). */
  readonly resource: string
  /** The scopes to ask for, separated by spaces. */
  readonly scope: string | undefined
  readonly metadata: AuthorizationServerMetadata
}

/** Tokens of a provider. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  /** When to renew them, before they expire: milliseconds since 1970. */
  readonly renewAt: number
}

/** A server that needs tokens, and how it may be reached. */
export interface OAuthOptions {
  readonly url: string
  readonly auth: ToolServerAuth
  readonly policy: AddressPolicy
  /** Most milliseconds for one step, with all of its requests. */
  readonly timeoutMs: number
}

/** Most bytes of an answer of a provider. */
const MAX_ANSWER = 65_536
const MAX_SCOPE = 2000
const MAX_SECONDS = 10 * 365 * 86_400

/** What may stand in a header. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Finds the provider (RFC 9728, RFC 8414). With `known`, it must have this issuer. Throws `tool_server_failed` or `address_refused`. */
export function findProvider(options: OAuthOptions, known: string | undefined): Promise<Provider> {
  return step(options, async fetch => {
    const { url, auth } = options
    const challenge = await challengeOf(url, fetch)
    const resource = await resourceOf(url, challenge.resourceMetadataUrl, fetch)
    const address = chosen(resource?.authorization_servers ?? [], auth.issuer ?? known, url)
    const metadata = await discoverAuthorizationServerMetadata(address, { fetchFn: fetch })
    if (metadata === undefined) throw failed('The provider of the tool server has no metadata (RFC 8414)')
    assertSecureTokenEndpoint(metadata.token_endpoint)
    const scope = auth.scopes?.join(' ') ?? challenge.scope ?? resource?.scopes_supported?.join(' ')
    return {
      issuer: metadata.issuer,
      resource: resource?.resource ?? resourceUrlFromServerUrl(url).href,
      scope: scope === undefined || scope.length > MAX_SCOPE ? undefined : scope,
      metadata: neededOf(metadata),
    }
  })
}

/** The address where a person signs in, and the verifier of its code (PKCE). */
export function beginAuthorization(
  options: OAuthOptions,
  { issuer, metadata, scope, resource }: Provider,
  sent: { readonly redirectUri: string; readonly state: string },
): Promise<{ readonly url: string; readonly verifier: string }> {
  return step(options, async () => {
    // People send their passwords there.
    assertSecureTokenEndpoint(metadata.authorization_endpoint)
    const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
      metadata,
      clientInformation: { client_id: options.auth.clientId },
      redirectUrl: sent.redirectUri,
      state: sent.state,
      resource,
      ...(scope !== undefined && { scope }),
    })
    return { url: authorizationUrl.href, verifier: codeVerifier }
  })
}

/** Checks who answered (RFC 9207). */
export function checkIssuer(
  options: OAuthOptions,
  { metadata }: Provider,
  iss: string | undefined,
): Promise<void> {
  return step(options, async () =>
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    }),
  )
}

/** Gets tokens for a grant, given as the parameters of its request. */
export function requestTokens(
  options: OAuthOptions,
  { issuer, metadata, resource }: Provider,
  grant: Readonly<Record<string, string>>,
): Promise<Tokens> {
  return step(options, async fetchFn => {
    const { clientId, clientSecret } = options.auth
    const sentAt = Date.now()
    const found = await fetchToken(
      {
        redirectUrl: undefined,
        clientMetadata: { redirect_uris: [] },
        clientInformation: () => ({
          client_id: clientId,
          ...(clientSecret !== undefined && { client_secret: clientSecret }),
        }),
        prepareTokenRequest: () => new URLSearchParams(grant),
        // A single request of tokens reads and writes nothing else.
        tokens: () => undefined,
        saveTokens() {},
        redirectToAuthorization() {},
        saveCodeVerifier() {},
        codeVerifier: () => '',
      },
      issuer,
      { metadata, resource: resource as unknown as URL, fetchFn },
    )
    const { access_token, token_type, refresh_token, expires_in: seconds } = found
    const isUsable =
      TOKEN.test(access_token) && TOKEN.test(refresh_token ?? '-') && /^bearer$/i.test(token_type)
    if (!isUsable) throw failed('The provider gave no usable token')
    const lifetime = Math.min(Math.max(0, seconds ?? MAX_SECONDS), MAX_SECONDS)
    return {
      accessToken: access_token,
      refreshToken: refresh_token,
      renewAt: sentAt + (lifetime - Math.min(30, lifetime / 10)) * 1000,
    }
  })
}

/** Does a step within its time. Its errors are safe to show. */
async function step<T>({ policy, timeoutMs }: OAuthOptions, work: (fetch: Fetch) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs)
  const send = guardedFetch({ ...policy, maxBytes: MAX_ANSWER, onAnswer() {} })
  try {
    return await unless(signal, () => work((url, init) => send(url, { ...init, signal })))
  } catch (error) {
    throw signal.aborted ? failed(`The provider did not answer within ${timeoutMs} ms`) : explained(error)
  }
}

/** The grant is not valid any more: it was used up, or taken back. */
export class GrantLostError extends ServableError {
  constructor() {
    super('tool_server_failed', 'The provider refused: `invalid_grant`')
  }
}

function explained(error: unknown): ServableError {
  if (isServableError(error)) return error
  if (error instanceof IssuerMismatchError)
    return failed('The provider is another one than the tool server names')
  if (error instanceof InsecureTokenEndpointError)
    return failed('The provider must have an address with https:')
  if (!(error instanceof OAuthError)) return failed('The provider gave no valid answer, or cannot be reached')
  const code = String(error.code)
  if (code === 'invalid_grant') return new GrantLostError()
  return failed(/^[a-z_]{1,64}$/.test(code) ? `The provider refused: \`${code}\`` : 'The provider refused')
}

/** What the server asks of a client without a token. */
async function challengeOf(url: string, fetch: Fetch) {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } })
  void response.body?.cancel().then(undefined, () => {})
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {}
}

/** The metadata of the server. Undefined if it has none. Throws if it is about another server. */
async function resourceOf(
  url: string,
  resourceMetadataUrl: URL | undefined,
  fetch: Fetch,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const options = resourceMetadataUrl && { resourceMetadataUrl }
  const found = await discoverOAuthProtectedResourceMetadata(url, options, fetch).catch(error => {
    if (isServableError(error)) throw error
    return undefined
  })
  if (found === undefined) return undefined
  const requestedResource = resourceUrlFromServerUrl(url)
  if (checkResourceAllowed({ requestedResource, configuredResource: found.resource })) return found
  throw failed('The metadata of the tool server is about another server')
}

/** The provider to use, of those that the server names. Without any, it is the one that counts, or the server itself. */
function chosen(listed: readonly string[], wanted: string | undefined, url: string): string {
  if (listed.length === 0) return wanted ?? new URL('/', url).href
  const address = wanted === undefined ? listed[0] : listed.find(each => isSameIssuer(each, wanted))
  if (address !== undefined) return address
  throw failed('The tool server names another provider than the one that counts')
}

/** The members of the metadata that later steps need. */
function neededOf(metadata: AuthorizationServerMetadata): AuthorizationServerMetadata {
  return {
    issuer: metadata.issuer,
    authorization_endpoint: metadata.authorization_endpoint,
    token_endpoint: metadata.token_endpoint,
    response_types_supported: metadata.response_types_supported,
    code_challenge_methods_supported: metadata.code_challenge_methods_supported,
    token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
    authorization_response_iss_parameter_supported: metadata.authorization_response_iss_parameter_supported,
  } as AuthorizationServerMetadata
}

function isSameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '')
}

function failed(why: string): ServableError {
  return new ServableError('tool_server_failed', why)
}
