/**
 * The tokens of tool servers, sealed in the store. Several processes use them, and one renews them at a time.
 *
 * @module
 */

import type { AuthProvider } from '@modelcontextprotocol/client'
import type {
  KeptDefinition,
  SignIn,
  SignInAnswer,
  SignInPlace,
  ToolServerStore,
} from '../../agents/tool-servers.ts'
import { ServableError } from '../../base/errors.ts'
import { later } from '../../base/wake.ts'
import { toBase64 } from '../../web/base64.ts'
import { isSame, sha256 } from '../../web/digest.ts'
import {
  beginAuthorization,
  checkIssuer,
  findProvider,
  GrantLostError,
  type OAuthOptions,
  type Provider,
  requestTokens,
  type Tokens,
} from './oauth.ts'
import type { Seal } from './seal.ts'

/** Where grants are stored. */
export interface GrantPlace {
  readonly store: Pick<ToolServerStore, 'change'>
  readonly seal: Seal
}

/** What is sealed of a grant. Without tokens it says which provider counts. */
interface KeptGrant {
  readonly provider: Provider
  readonly tokens: Tokens | undefined
}

/** What is sealed of a sign-in that has begun. */
interface KeptSignIn {
  readonly secret: string
  readonly verifier: string
  readonly who: string | null
  readonly redirectUri: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly provider: Provider
}

/** Milliseconds in which a sign-in must be finished. */
const SIGN_IN_MS = 600_000

/** Milliseconds after a renewal in which a refused token is not renewed again. */
const PAUSE_MS = 5000

/** Milliseconds between two looks at a renewal of another process. */
const LOOK_MS = 100

/** Most tokens that are cut out of what a server sends. */
const MAX_SECRETS = 8

/** The grant of one server, as this process uses it. */
export class Grant implements AuthProvider {
  readonly #id: string
  readonly #options: OAuthOptions
  readonly #place: GrantPlace
  #sealed: string | undefined
  #kept: KeptGrant | undefined
  #renewing: Promise<void> | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  #secrets: readonly string[] = []

  constructor(id: string, options: OAuthOptions, place: GrantPlace) {
    this.#id = id
    this.#options = options
    this.#place = place
  }

  /** The tokens that were used last. */
  get secrets(): readonly string[] {
    return this.#secrets
  }

  /** A token that is valid by its time. Throws `tool_server_failed` if there is none and none can be had. */
  async token(): Promise<string> {
    if (isDue(this.#kept?.tokens)) await this.#renewOnce()
    const { accessToken } = this.#kept?.tokens ?? {}
    if (accessToken !== undefined) return accessToken
    throw this.#mustSignIn()
  }

  /** Renews the token that the server refused, unless that was done just now. */
  async onUnauthorized(): Promise<void> {
    if (Math.abs(Date.now() - this.#renewedAt) > PAUSE_MS) await this.#renewOnce()
  }

  /** Begins a sign-in. An earlier one that has not ended is forgotten. */
  async begin({ who, redirectUri }: SignInPlace): Promise<SignIn> {
    if (this.#options.auth.type !== 'authorization_code') throw noSignIn()
    await this.#adopt(await this.#read())
    const provider = await findProvider(this.#options, this.#kept?.provider.issuer)
    const secret = newSecret()
    const state = `${this.#id}.${secret}`
    const { url, verifier } = await beginAuthorization(this.#options, provider, { redirectUri, state })
    const expiresAt = Date.now() + SIGN_IN_MS
    const begun: KeptSignIn = { secret, verifier, who, redirectUri, expiresAt, provider }
    const signIn = await this.#close(begun, 'sign-in')
    await this.#change(kept => ({ ...kept, signIn }))
    return { url, expiresAt: new Date(expiresAt).toISOString() }
  }

  /** Ends a sign-in, and stores its tokens. Throws `invalid_query`, `forbidden` or `tool_server_failed`. */
  async finish({ state, code, error, iss, who }: SignInAnswer): Promise<void> {
    const { signIn } = await this.#read()
    if (signIn === undefined) throw unknownState()
    const begun = await this.#open<KeptSignIn>(signIn, 'sign-in')
    const digests = await Promise.all([sha256(state), sha256(`${this.#id}.${begun.secret}`)])
    if (!isSame(...digests)) throw unknownState()
    if (begun.who !== who)
      throw new ServableError('forbidden', 'Another administrator began this sign-in: only they can end it')
    await this.#useUp(signIn)
    const left = begun.expiresAt - Date.now()
    if (left <= 0 || left > SIGN_IN_MS) throw unknownState()
    const { provider, verifier, redirectUri } = begun
    await checkIssuer(this.#options, provider, iss)
    if (code === undefined) throw refusedBy(error)
    const tokens = await requestTokens(this.#options, provider, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
    })
    const grant = await this.#close({ provider, tokens }, 'grant')
    await this.#adopt(await this.#change(kept => ({ ...kept, grant, isSignedIn: true, renewingUntil: 0 })))
  }

  /** A state counts once, wherever it comes. */
  async #useUp(signIn: string): Promise<void> {
    let isMine = false
    await this.#change(kept => {
      isMine = kept.signIn === signIn
      return isMine ? { ...kept, signIn: undefined } : undefined
    })
    if (!isMine) throw unknownState()
  }

  #renewOnce(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Renews the tokens, or takes those that were renewed elsewhere. */
  async #renew(): Promise<void> {
    const { timeoutMs, auth } = this.#options
    const before = this.#sealed
    await this.#adopt(await this.#read())
    const known = this.#sealed
    const { tokens } = this.#kept ?? {}
    if (known !== before && !isDue(tokens)) return
    const canRenew = auth.type === 'client_credentials' || tokens?.refreshToken !== undefined
    if (!canRenew) throw this.#mustSignIn()
    for (const deadline = Date.now() + timeoutMs; ; await later(LOOK_MS)) {
      let mine: number | undefined
      const kept = await this.#change(kept => {
        mine = undefined
        const left = (kept.renewingUntil ?? 0) - Date.now()
        // A clock may have been set back, or who renewed may have died meanwhile.
        if (kept.grant !== known || (left > 0 && left <= 2 * timeoutMs)) return undefined
        mine = Date.now() + 2 * timeoutMs
        return { ...kept, renewingUntil: mine }
      })
      if (mine !== undefined) return this.#renewAs(mine)
      if (kept.grant !== known) return this.#adopt(kept)
      if (Date.now() > deadline)
        throw failed('The token is being renewed elsewhere, and that has not ended in time')
    }
  }

  /** Renews the tokens as the only one that may. Others wait until it is done, or until `mine` has passed. */
  async #renewAs(mine: number): Promise<void> {
    let changes: Partial<KeptDefinition> = {}
    try {
      const grant = await this.#close(await this.#newGrant(), 'grant')
      changes = { grant, ...this.#signedIn(true) }
    } catch (error) {
      if (error instanceof GrantLostError && this.#kept) {
        // The provider still counts.
        const grant = await this.#close({ provider: this.#kept.provider }, 'grant')
        changes = { grant, ...this.#signedIn(false) }
        throw this.#mustSignIn()
      }
      throw error
    } finally {
      // A sign-in may have ended meanwhile, and its tokens count.
      const end = (kept: KeptDefinition) =>
        kept.renewingUntil === mine ? { ...kept, ...changes, renewingUntil: 0 } : undefined
      await this.#adopt(await this.#change(end))
    }
    this.#renewedAt = Date.now()
  }

  async #newGrant(): Promise<KeptGrant> {
    const { auth } = this.#options
    if (auth.type === 'client_credentials') {
      const provider = await findProvider(this.#options, this.#kept?.provider.issuer)
      const { scope } = provider
      const asked = { grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }
      return { provider, tokens: await requestTokens(this.#options, provider, asked) }
    }
    const { provider, tokens } = this.#kept ?? {}
    const { refreshToken } = tokens ?? {}
    if (provider === undefined || refreshToken === undefined) throw this.#mustSignIn()
    const asked = { grant_type: 'refresh_token', refresh_token: refreshToken }
    const renewed = await requestTokens(this.#options, provider, asked)
    return { provider, tokens: { ...renewed, refreshToken: renewed.refreshToken ?? refreshToken } }
  }

  #signedIn(isSignedIn: boolean): Partial<KeptDefinition> {
    return this.#options.auth.type === 'authorization_code' ? { isSignedIn } : {}
  }

  async #adopt({ grant }: KeptDefinition): Promise<void> {
    if (grant === undefined || grant === this.#sealed) return
    this.#kept = await this.#open<KeptGrant>(grant, 'grant')
    this.#sealed = grant
    const { accessToken, refreshToken } = this.#kept.tokens ?? {}
    const used = [accessToken, refreshToken].filter(token => token !== undefined)
    this.#secrets = [...new Set([...this.#secrets, ...used])].slice(-MAX_SECRETS)
  }

  #read(): Promise<KeptDefinition> {
    return this.#change(() => undefined)
  }

  async #change(change: (kept: KeptDefinition) => KeptDefinition | undefined): Promise<KeptDefinition> {
    const kept = await this.#place.store.change(this.#id, change)
    if (kept !== undefined) return kept
    throw new ServableError('tool_server_not_found', 'The tool server was removed')
  }

  #close(value: object, kind: string): Promise<string> {
    return this.#place.seal.close(JSON.stringify(value), `${this.#id}/${kind}`)
  }

  async #open<T>(text: string, kind: string): Promise<T> {
    return JSON.parse(await this.#place.seal.open(text, `${this.#id}/${kind}`)) as T
  }

  #mustSignIn(): ServableError {
    return failed(`An administrator must sign in: \`POST …/admin/mcp/${this.#id}/sign-in\``)
  }
}

/** The id of the server that a state is for. */
export function serverOfState(state: string): string {
  return state.slice(0, Math.max(0, state.indexOf('.')))
}

/** The error of a state that does not count, or does not count any more. */
export function unknownState(): ServableError {
  return new ServableError('invalid_query', 'The `state` is unknown, used or too old: begin to sign in again')
}

/** The error of a server that nobody signs in to. */
export function noSignIn(): ServableError {
  const text = "Nobody signs in to this tool server: its `auth.type` is not 'authorization_code'"
  return new ServableError('unsupported_operation', text)
}

function isDue(tokens: Tokens | undefined): boolean {
  return tokens === undefined || tokens.renewAt <= Date.now()
}

/** 256 random bits in base64url. */
function newSecret(): string {
  return toBase64(crypto.getRandomValues(new Uint8Array(32)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace('=', '')
}

function refusedBy(error: string | undefined): ServableError {
  const code = /^[a-z_]{1,64}$/.test(error ?? '') ? `: \`${error}\`` : ''
  return failed(`The provider refused to sign in${code}`)
}

function failed(why: string): ServableError {
  return new ServableError('tool_server_failed', why)
}
