/**
 * Schedules as a deployment declares them.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind, RunInput, Servable } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import { checkOptions } from '../../base/schemas.ts'
import { isObject } from '../../base/validation.ts'
import { IDENTITY_ID, IDENTITY_RULE } from '../../http/platform.ts'
import { RunInputSchema, shortText } from '../../runs/input.ts'
import { faultOf, type Rule } from './cron.ts'

/** What a schedule runs: an agent by its name, any servable by its kind and name, or the servable itself. */
export type ScheduleTarget =
  | string
  | { readonly agent: string }
  | { readonly team: string }
  | { readonly workflow: string }
  | Servable

/** When a schedule runs its target, with which input, and for which owner. */
export interface ScheduleOptions {
  /**
   * A cron expression of 5 fields, or of 6 with seconds first: `0 9 * * MON-FRI`. `L`, `W`, `#` and names such as `@daily` are known
   * as well. Up to 200 characters.
   */
  readonly cron: string
  /** The time zone of the expression: a name of the IANA database, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timezone?: string | undefined
  /** The input of each run: text that is not empty, or content parts. */
  readonly input: RunInput
  /** The id of the identity that owns the runs. They appear in its list. */
  readonly owner: string
  /** The session of the runs. Default: none, so runs do not remember earlier ones. */
  readonly sessionId?: string | undefined
  /** The name of the schedule: 1 to 100 letters, digits, `.`, `_` and `-`. Default: the name of the target. */
  readonly name?: string | undefined
  /**
   * What happens to a tick that no process noticed within a minute, for example while all were down. `run` starts one run as soon
   * as a process is up, however many ticks were missed; `skip` waits for the next tick. Default: `run`.
   */
  readonly missed?: 'run' | 'skip' | undefined
}

/** A schedule. Made by {@link schedule}. */
export interface Schedule extends Rule {
  readonly name: string
  readonly target: { readonly kind: Kind; readonly name: string }
  /** The servable itself, if it was given. */
  readonly servable?: Servable | undefined
  readonly input: RunInput
  readonly owner: string
  readonly sessionId: string | undefined
  readonly missed: 'run' | 'skip'
}

const OptionsSchema = v.strictObject({
  cron: v.string(),
  timezone: v.optional(v.string()),
  input: RunInputSchema,
  owner: v.pipe(v.string('must be the id of an identity'), v.regex(IDENTITY_ID, IDENTITY_RULE)),
  sessionId: shortText('sessionId'),
  name: v.optional(v.string()),
  missed: v.optional(v.picklist(['run', 'skip'], "must be 'run' or 'skip'")),
})

/** Names that need no escaping in a path. */
const NAME = /^(?!\.{1,2}$)[\w.-]{1,100}$/

/** Makes a schedule for `schedules`. Throws `invalid_options`. */
export function schedule(target: ScheduleTarget, options: ScheduleOptions): Schedule {
  checkOptions('schedule', OptionsSchema, options)
  const { cron, timezone = 'UTC', input, owner, sessionId, missed = 'run' } = options
  const found = targetOf(target)
  const { name = found.target.name } = options
  const fault = NAME.test(name)
    ? faultOf({ cron, timezone })
    : `\`name\` must have 1 to 100 letters, digits, \`.\`, \`_\` and \`-\`: give \`${name.slice(0, 100)}\` another one`
  if (fault !== undefined) throw new ServableError('invalid_options', `\`schedule\`: ${fault}`)
  return { ...found, name, cron, timezone, input, owner, sessionId, missed }
}

function targetOf(target: ScheduleTarget): Pick<Schedule, 'target' | 'servable'> {
  if (typeof target === 'string') return { target: { kind: 'agent', name: target } }
  if (isServable(target)) return { target: { kind: target.kind, name: target.name }, servable: target }
  const names: Readonly<Partial<Record<string, unknown>>> = isObject(target) ? { ...target } : {}
  const [kind, ...others] = KINDS.filter(each => typeof names[each] === 'string')
  if (kind !== undefined && others.length === 0) return { target: { kind, name: String(names[kind]) } }
  throw new ServableError(
    'invalid_options',
    '`schedule` needs what it runs: the name of an agent, an agent, team or workflow, or such as `{ team: name }`',
  )
}

function isServable(target: ScheduleTarget): target is Servable {
  const { kind, name } = Object(target) as Partial<Servable>
  return kind !== undefined && KINDS.includes(kind) && typeof name === 'string'
}
