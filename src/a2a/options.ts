/**
 * The options of A2A.
 *
 * @module
 */

import type { ServableAgent, ServableLike } from '../agents/contract.ts'
import { withDefaults } from '../defaults.ts'
import type { Identity } from '../http/platform.ts'
import {
  checkRequirements,
  NO_SECURITY,
  type SecurityRequirement,
  type SecuritySettings,
} from '../http/security.ts'
import type { CardOptions } from './card.ts'
import type { AgentCard, CardGeneration, CardSignature } from './card-forms.ts'
import type { CardSecuritySchemes } from './card-security.ts'
import { BASIC_MODES, DEFAULT_INPUT_MODES } from './modes.ts'
import { PUSH_DEFAULTS, type PushOptions, type PushSettings } from './push/options.ts'

/** Who provides the agents, as cards say it. */
export interface A2AProvider {
  readonly organization: string
  readonly url?: string
}

/** What an extended card may say otherwise than the open one. */
export type ExtendedCardText = Partial<
  Pick<
    CardOptions,
    | 'name'
    | 'description'
    | 'version'
    | 'provider'
    | 'documentationUrl'
    | 'iconUrl'
    | 'inputModes'
    | 'outputModes'
  >
>

/** A card for those who have proved who they are. */
export interface ExtendedCardOptions {
  /** Says who asks. Undefined and a throw refuse with 401; a response is the answer. */
  readonly authenticate: (
    request: Request,
  ) => Identity | Response | undefined | Promise<Identity | Response | undefined>
  /** What a refusal asks for, as `WWW-Authenticate` has it. Default `Bearer`. */
  readonly challenge?: string
  /** Names of agents that no other card tells of. Who knows their names can still ask them: middleware decides that. */
  readonly agents?: readonly string[]
  /** What the card says otherwise than the open one, or what it says to whom. */
  readonly card?: ExtendedCardText | ((identity: Identity) => ExtendedCardText | Promise<ExtendedCardText>)
}

/** Signs a card (section 8.4 of A2A 1.0), as `cardSigner` of `servable/signing` does. */
export type SignCard = (card: AgentCard, generation: CardGeneration) => Promise<readonly CardSignature[]>

/** How agents are offered over A2A. */
export interface A2AOptions {
  /** The agents on offer, by name. Default: all that the handler serves. */
  readonly agents?: Readonly<Record<string, ServableLike<ServableAgent>>>
  /** Path of the JSON-RPC endpoint; HTTP+JSON is below it. Default `/`. */
  readonly basePath?: string
  readonly provider?: A2AProvider
  /** Version of the agent as cards state it. Default `1.0.0`. */
  readonly version?: string
  /** Name of the card that stands for all agents. Default: the only agent's name, else `servable`. */
  readonly name?: string
  /** Description on that card. */
  readonly description?: string
  /** The agent that answers a message which names none. */
  readonly default?: string
  /**
   * The form of a card whose reader names no version: `hybrid` (default) is read by clients of every generation,
   * `1.0` satisfies a strict validator of 1.0.
   */
  readonly cardForm?: 'hybrid' | '1.0'
  /**
   * Security schemes by name, as OpenAPI has them. They are shown on cards; middleware is what enforces them. Default: the
   * handler's `securitySchemes`, which are those of ready-made authentication by default.
   */
  readonly securitySchemes?: CardSecuritySchemes
  /** Which of them a request needs: one of the list, with its scopes. Default: as the handler's, unless there are own schemes. */
  readonly security?: readonly SecurityRequirement[]
  readonly documentationUrl?: string
  readonly iconUrl?: string
  /** Media types that messages may hold (`image/*` stands for all images); others are refused. */
  readonly inputModes?: readonly string[]
  /** Media types that cards say agents answer in. */
  readonly outputModes?: readonly string[]
  /** Lists tasks without an owner to everyone, with no `contextId` needed. Default false. */
  readonly listAnonymous?: boolean
  /** Most bytes of a request's body. Default 10,485,760. */
  readonly maxBodyBytes?: number
  /** Most parts of a message: 1,000 or less. Default 100. */
  readonly maxParts?: number
  /** Most messages of a task's history; past it, or past some 64 MiB in memory, the task takes no more. Default 200. */
  readonly maxHistory?: number
  /**
   * Most tasks of one owner that are kept; past it the oldest ended one leaves. All who have no identity are one owner: there,
   * where none has ended, the oldest that waits for its client leaves. Default 10,000.
   */
  readonly maxTasksPerOwner?: number
  /** Most streams that follow one task at a time. Default 100. */
  readonly maxSubscribers?: number
  /** Tells clients of their tasks at addresses that they give (push notifications): `true`, or how. Default: off. */
  readonly push?: boolean | PushOptions
  /** A card for those who have proved who they are. Default: none. */
  readonly extendedCard?: ExtendedCardOptions
  /** Signs cards, as `cardSigner` of `servable/signing` does. Default: they are not signed. */
  readonly sign?: SignCard
}

/** What has no default. */
type Unset =
  | 'agents'
  | 'provider'
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
    /** Undefined where nobody is told. */
    readonly push: PushSettings | undefined
  }

/** Fills in the defaults. Throws `invalid_options` where `security` names a scheme that is not there. */
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
      listAnonymous: false,
      maxBodyBytes: 10 * 1024 * 1024,
      maxParts: 100,
      maxHistory: 200,
      maxTasksPerOwner: 10_000,
      maxSubscribers: 100,
    },
    options,
  )
}
