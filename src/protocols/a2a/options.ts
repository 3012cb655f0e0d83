/**
 * The options of A2A.
 *
 * @module
 */

import type { ServableAgent, ServableLike, ServableTeam, ServableWorkflow } from '../../agents/contract.ts'
import { withDefaults } from '../../base/defaults.ts'
import type { Identity } from '../../http/platform.ts'
import {
  checkRequirements,
  NO_SECURITY,
  type SecurityRequirement,
  type SecuritySettings,
} from '../../http/security/security.ts'
import type { CardText } from './cards/card.ts'
import type { AgentCard, CardGeneration, CardSignature } from './cards/card-forms.ts'
import type { CardSecuritySchemes } from './cards/card-security.ts'
import type { AgentExtension } from './cards/extensions.ts'
import { BASIC_MODES, DEFAULT_INPUT_MODES } from './cards/modes.ts'
import type { TenantOptions } from './tenants.ts'

/** The provider of the agents, as cards state it. */
export interface A2AProvider {
  /** Name of the organization. */
  readonly organization: string
  /** Address of the organization. Default: the address of the agent, because cards require one. */
  readonly url?: string
}

/** An extended card, for authenticated users. */
export interface ExtendedCardOptions {
  /** Identifies the caller. Undefined or a throw refuses with 401. A response is sent as it is. */
  readonly authenticate: (
    request: Request,
  ) => Identity | Response | undefined | Promise<Identity | Response | undefined>
  /** The `WWW-Authenticate` header of a refusal. Default: `Bearer`. */
  readonly challenge?: string
  /**
   * Ids of skills that appear on no other card. A client that knows such a name can still call the agent, unless middleware
   * refuses it.
   */
  readonly agents?: readonly string[]
  /** Fields that differ from the open card, or a function that returns them for an identity. */
  readonly card?: CardText | ((identity: Identity) => CardText | Promise<CardText>)
}

/** Signs a card (section 8.4 of A2A 1.0), as `cardSigner` of `servable/signing` does. */
export type SignCard = (card: AgentCard, generation: CardGeneration) => Promise<readonly CardSignature[]>

/** Options of A2A. */
export interface A2AOptions {
  /**
   * The agents on offer, by name. Default: all that the handler serves, with its teams and workflows, unless `teams` or
   * `workflows` is given.
   */
  readonly agents?: Readonly<Record<string, ServableLike<ServableAgent>>>
  /** The teams on offer, by name, as skills such as `team/desk`. Default: as with `agents`. */
  readonly teams?: Readonly<Record<string, ServableLike<ServableTeam>>>
  /** The workflows on offer, by name, as skills such as `workflow/onboard`. Default: as with `agents`. */
  readonly workflows?: Readonly<Record<string, ServableLike<ServableWorkflow>>>
  /** Path of the JSON-RPC endpoint. HTTP+JSON is below it. Default: `/`. */
  readonly basePath?: string
  /**
   * Address of the service as cards state it, without a slash at the end: `https://proxy.example/agents`. It may have a path, if a proxy
   * serves the agents below one. Default: the handler's `publicUrl`, else the address that the reader of the card has used.
   */
  readonly publicUrl?: string
  /** The organization that provides the agents. Default: none. */
  readonly provider?: A2AProvider
  /** Version of the agent as cards state it. Default: `1.0.0`. */
  readonly version?: string
  /** Name of the card for all agents. Default: the only agent's name, else `servable`. */
  readonly name?: string
  /** Description on that card. */
  readonly description?: string
  /** The agent that answers a message that names no agent, or the id of a skill: `team/desk`. */
  readonly default?: string
  /**
   * The form of a card when its reader names no version. `hybrid` works for clients of every generation. `1.0` satisfies a
   * strict validator of 1.0. Default: `hybrid`.
   */
  readonly cardForm?: 'hybrid' | '1.0'
  /**
   * Security schemes by name, as in OpenAPI. Cards show them; middleware enforces them. Default: the handler's
   * `securitySchemes`, which by default are those of ready-made authentication.
   */
  readonly securitySchemes?: CardSecuritySchemes
  /**
   * The schemes that a request needs: one entry of the list, with its scopes. Default: the handler's, unless `securitySchemes`
   * is given here.
   */
  readonly security?: readonly SecurityRequirement[]
  /** Address of your documentation, as cards state it. Default: none. */
  readonly documentationUrl?: string
  /** Address of an icon, as cards state it. Default: none. */
  readonly iconUrl?: string
  /** Media types that messages may have (`image/*` means all images). Others are refused. */
  readonly inputModes?: readonly string[]
  /** Media types of answers, as cards state them. */
  readonly outputModes?: readonly string[]
  /** Extensions of the protocol, at most 100. Cards show them, and a request activates those that it names. Default: none. */
  readonly extensions?: readonly AgentExtension[]
  /** Parts of the service with agents, a card and tasks of their own. Default: none, and a request that names one is refused. */
  readonly tenants?: TenantOptions
  /**
   * Whether answers can be streamed. If not, cards say so, and streams are refused with `unsupported_operation`. Default: true.
   */
  readonly streaming?: boolean
  /** Lets everyone list the tasks that have no owner, without a `contextId`. Default: false. */
  readonly listAnonymous?: boolean
  /** Most bytes of a request's body. Default: 10,485,760. */
  readonly maxBodyBytes?: number
  /**
   * Most messages in the history of a task. Past it, or past some 64 MiB in memory, the task accepts no more messages. Default:
   * 200.
   */
  readonly maxHistory?: number
  /**
   * Most stored tasks of one owner. Past it the oldest ended task is deleted. All clients without an identity are one
   * owner: if none of their tasks has ended, the oldest that waits for its client is deleted. Default: 10,000.
   */
  readonly maxTasksPerOwner?: number
  /** Sends push notifications of tasks to addresses that clients give: `true`, or the options. Default: off. */
  readonly push?: boolean | PushOptions
  /** An extended card, for authenticated users. Default: none. */
  readonly extendedCard?: ExtendedCardOptions
  /** Signs cards; use `cardSigner` of `servable/signing`. Default: cards are not signed. */
  readonly sign?: SignCard
}

/** The options that have no default. */
type Unset =
  | 'agents'
  | 'teams'
  | 'workflows'
  | 'tenants'
  | 'provider'
  | 'publicUrl'
  | 'name'
  | 'description'
  | 'default'
  | 'documentationUrl'
  | 'iconUrl'
  | 'extendedCard'
  | 'sign'

/** The options with every default in place. */
export type A2ASettings = Required<Omit<A2AOptions, Unset | 'push'>> &
  Pick<A2AOptions, Unset> & {
    /** Undefined if push notifications are off. */
    readonly push: PushSettings | undefined
  }

/** Fills in the defaults. Throws `invalid_options` if `security` names a scheme that does not exist. */
export function resolveA2A(
  { push, ...options }: A2AOptions,
  { schemes, required }: SecuritySettings = NO_SECURITY,
): A2ASettings {
  const given = push === true ? {} : push
  checkRequirements(options.security ?? [], options.securitySchemes ?? schemes, 'a2a.security')
  return withDefaults<A2ASettings>(
    {
      push: given ? withDefaults(PUSH_DEFAULTS, given) : undefined,
      basePath: '/',
      version: '1.0.0',
      cardForm: 'hybrid',
      securitySchemes: schemes,
      security: options.securitySchemes === undefined ? required : [],
      inputModes: DEFAULT_INPUT_MODES,
      outputModes: BASIC_MODES,
      extensions: [],
      streaming: true,
      listAnonymous: false,
      maxBodyBytes: 10 * 1024 * 1024,
      maxHistory: 200,
      maxTasksPerOwner: 10_000,
    },
    options,
  )
}

/** Options of push notifications. */
export interface PushOptions {
  /**
   * Receivers that are allowed although they are not public: hosts (`localhost`), hosts with a port, and address ranges. For
   * these `http:` is allowed too. Default: none, so only public `https:` addresses.
   */
  readonly allow?: readonly string[]
  /**
   * Signs notifications, so that a receiver can check them with `verifyWebhook`. It is 24 bytes or more in base64, with or
   * without `whsec_` before it. Default: they are not signed.
   */
  readonly secret?: string
  /** Milliseconds that a receiver may take to answer. Default: 10,000. */
  readonly timeoutMs?: number
  /** Failures in a row after which a receiver gets no more notifications. Default: 10. */
  readonly maxTries?: number
  /** Milliseconds before the second try. Each further try waits twice as long. Default: 1,000. */
  readonly retryMs?: number
  /** Most milliseconds between two tries. Default: 600,000. */
  readonly maxRetryMs?: number
}

/** The options with every default in place. */
export type PushSettings = Required<Omit<PushOptions, 'secret'>> & Pick<PushOptions, 'secret'>

/** The defaults. */
export const PUSH_DEFAULTS: PushSettings = {
  allow: [],
  timeoutMs: 10_000,
  maxTries: 10,
  retryMs: 1000,
  maxRetryMs: 600_000,
}
