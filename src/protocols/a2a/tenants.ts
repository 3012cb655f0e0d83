/**
 * Tenants: parts of a service with agents, a card and tasks of their own (section 8.3.2 of A2A 1.0).
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import { within } from '../../base/wake.ts'
import type { RequestState } from '../../http/context.ts'
import type { Identity } from '../../http/platform.ts'
import type { CardText } from './cards/card.ts'

/** Options of tenants. */
export interface TenantOptions {
  /**
   * Decides whether a user may use a tenant. Is called for each request that names one, and may take 10 seconds. Anything but
   * `true` refuses with `forbidden`. The identity is undefined for a client without one.
   */
  readonly authorize: (identity: Identity | undefined, tenant: string) => boolean | Promise<boolean>
  /** Ids of the tenant's skills: `support`, `team/desk`, `workflow/onboard`. Default: all that A2A offers. */
  readonly agents?: (tenant: string) => readonly string[] | Promise<readonly string[]>
  /** Fields in which the tenant's card differs. Default: none. */
  readonly card?: (tenant: string) => CardText | Promise<CardText>
  /** Refuses messages and tasks without a tenant. Default: false. */
  readonly required?: boolean
}

/** Most characters of a tenant's name. */
const MAX_NAME = 200

/** Milliseconds that a function of the options may take. */
const TIMEOUT_MS = 10_000

/** The prefix of a tenant's session ids, so that no other session of the same user has such an id. */
const SESSIONS = 'tenant:'

/** The caller that names a tenant, and the request. */
export interface TenantAsker {
  readonly identity: Identity | undefined
  readonly state: RequestState
  readonly request: Request
}

/** Decides who may use a tenant. */
export class Tenants {
  readonly #options: TenantOptions | undefined

  constructor(options: TenantOptions | undefined) {
    this.#options = options
  }

  /** Whether there are tenants. */
  get isOn(): boolean {
    return this.#options !== undefined
  }

  /**
   * Returns the tenant of a request, or undefined if the request names none. Throws `invalid_params`, and `forbidden` whether
   * the tenant exists or not.
   */
  async admit(given: unknown, asker: TenantAsker): Promise<string | undefined> {
    const options = this.#options
    if (given === undefined || given === null || given === '') {
      if (options?.required !== true) return undefined
      throw new ServableError('invalid_params', '`tenant` must be given')
    }
    if (options === undefined) {
      throw new ServableError('invalid_params', 'There are no tenants here: leave `tenant` out')
    }
    if (typeof given !== 'string' || given.length > MAX_NAME || given !== given.toWellFormed()) {
      const text = `\`tenant\` must be well-formed text of at most ${MAX_NAME} characters`
      throw new ServableError('invalid_params', text)
    }
    const { identity, state, request } = asker
    const report = (error: unknown) => state.logThrown('request.failed', error, request)
    if (await this.#authorizes(options, given, identity, report)) return given
    throw new ServableError('forbidden', 'You may not use this tenant')
  }

  /** Whether somebody may use the tenant of a task. `report` gets the error that the function of the options throws. */
  async mayUse(
    identity: Identity | undefined,
    tenant: string | undefined,
    report: (error: unknown) => void,
  ): Promise<boolean> {
    if (tenant === undefined) return true
    return this.#options !== undefined && this.#authorizes(this.#options, tenant, identity, report)
  }

  async #authorizes(
    { authorize }: TenantOptions,
    tenant: string,
    identity: Identity | undefined,
    report: (error: unknown) => void,
  ): Promise<boolean> {
    try {
      const asked = async () => authorize(identity, tenant)
      return (await within(TIMEOUT_MS, '`a2a.tenants.authorize`', asked)) === true
    } catch (error) {
      if (isServableError(error)) throw error
      report(error)
      return false
    }
  }

  /** Ids of the tenant's skills. Undefined: all. */
  async skillsOf(tenant: string | undefined): Promise<ReadonlySet<string> | undefined> {
    const { agents } = this.#options ?? {}
    if (tenant === undefined || agents === undefined) return undefined
    const ids: unknown = await within(TIMEOUT_MS, '`a2a.tenants.agents`', async () => agents(tenant))
    if (Array.isArray(ids)) return new Set(ids)
    throw new ServableError('internal_error', '`a2a.tenants.agents` must return an array of names')
  }

  /** The fields in which the tenant's card differs. */
  async textOf(tenant: string | undefined): Promise<unknown> {
    const { card } = this.#options ?? {}
    if (tenant === undefined || card === undefined) return {}
    return within(TIMEOUT_MS, '`a2a.tenants.card`', async () => card(tenant))
  }

  /** Throws `invalid_params` for a context without a tenant whose id begins like a session id of a tenant. */
  checkContext(contextId: string | undefined): void {
    if (!this.isOn || contextId?.startsWith(SESSIONS) !== true) return
    throw new ServableError('invalid_params', `\`contextId\` must not begin with \`${SESSIONS}\``)
  }
}

/** The id of a context, and its tenant. */
export interface ContextKey {
  readonly tenant?: string | undefined
  readonly contextId: string
}

/** The session id of a context: the context id, with the tenant's name before it if there is a tenant. */
export function sessionOf({ tenant, contextId }: ContextKey): string {
  return tenant === undefined ? contextId : `${SESSIONS}${encodeURIComponent(tenant)}/${contextId}`
}

/** The contexts that a session id may belong to. */
export function contextsOf(sessionId: string): readonly ContextKey[] {
  const [, tenant, contextId = ''] = /^tenant:([^/]*)\/(.*)$/s.exec(sessionId) ?? []
  const own = { contextId: sessionId }
  if (tenant === undefined) return [own]
  try {
    return [own, { tenant: decodeURIComponent(tenant), contextId }]
  } catch {
    return [own]
  }
}
