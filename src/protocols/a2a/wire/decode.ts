/**
 * The decoders that the wires share. The wires differ in names and parts.
 *
 * @module
 */

import * as v from 'valibot'
import { list, moment, validate } from '../../../base/validation.ts'
import { MAX_PARTS } from '../../../runs/input.ts'
import type { GetRequest, ListRequest, Message, Part, SendRequest, TaskRequest, TaskState } from '../model.ts'
import { anyObject, oneOf, optionalText, queryFlag, required, texts } from './fields.ts'
import { orEmpty, type RecordOf } from './record.ts'
import type { Wire } from './wire.ts'

/** The names and types in which a wire differs. */
export interface Grammar {
  readonly record: RecordOf
  readonly part: v.GenericSchema<unknown, Part>
  readonly roles: Readonly<Record<Message['role'], string>>
  readonly states: Readonly<Record<TaskState, string>>
  /** Makes schemas of whole numbers. Proto-JSON also accepts decimal text. */
  readonly count: (min: number, max?: number) => v.GenericSchema<unknown, number>
}

/** Default number of tasks on a page (specification, section 3.1.4). */
const PAGE_SIZE = 50

/** Most tasks on a page (specification, section 3.1.4). */
const MAX_PAGE_SIZE = 100

/** Checks parameters. Throws `invalid_params` that names every wrong field. */
export function check<T>(schema: v.GenericSchema<unknown, T>, params: unknown): T {
  return validate(schema, params, 'invalid_params', 'params')
}

/** The parts of a message: at least one, and at most the highest limit that an option allows. */
export function parts(part: v.GenericSchema<unknown, Part>): v.GenericSchema<unknown, Part[]> {
  return v.pipe(list(part, MAX_PARTS, 'must be an array of parts'), v.nonEmpty('must have at least one part'))
}

type Header = Omit<Message, 'parts' | 'referenceTaskIds'> & { referenceTaskIds?: string[] | undefined }

/** The fields of a message that have the same name on every wire (section 4.1.4). */
export function messageFields({ roles }: Pick<Grammar, 'roles'>): {
  [K in keyof Required<Header>]: undefined extends Header[K]
    ? v.OptionalSchema<v.GenericSchema<unknown, Header[K]>, undefined>
    : v.GenericSchema<unknown, Header[K]>
} {
  return {
    messageId: required,
    role: oneOf(roles),
    contextId: optionalText,
    taskId: optionalText,
    metadata: v.optional(anyObject),
    extensions: v.optional(texts),
    referenceTaskIds: v.optional(texts),
  }
}

type Configuration = SendRequest['configuration']

/** The schema of the parameters of send. `own` reads what a wire's configuration says in words of its own. */
export function sendSchema<C extends Pick<Configuration, 'acceptedOutputModes' | 'historyLength'>>(
  record: RecordOf,
  message: v.GenericSchema<unknown, Message>,
  configuration: v.GenericSchema<unknown, C>,
  own: (configuration: C | undefined) => Omit<Configuration, 'acceptedOutputModes'>,
): v.GenericSchema<unknown, SendRequest> {
  return v.pipe(
    record({ message, configuration: v.optional(configuration), metadata: v.optional(anyObject) }),
    v.transform(({ configuration: given, ...request }) => ({
      ...request,
      configuration: {
        acceptedOutputModes: given?.acceptedOutputModes,
        historyLength: given?.historyLength,
        ...own(given),
      },
    })),
  )
}

/** The decoders of all methods except send. */
export function taskDecoders({ record, states, count }: Grammar): Omit<Wire['decode'], 'send'> {
  const byId: v.GenericSchema<unknown, TaskRequest> = record({ id: required })
  const get: v.GenericSchema<unknown, GetRequest> = record({
    id: required,
    historyLength: v.optional(count(0)),
  })
  const list: v.GenericSchema<unknown, ListRequest> = v.pipe(
    record({
      contextId: optionalText,
      status: v.optional(oneOf({ ...states, '': 'TASK_STATE_UNSPECIFIED' })),
      pageSize: v.optional(count(1, MAX_PAGE_SIZE), PAGE_SIZE),
      pageToken: optionalText,
      historyLength: v.optional(count(0)),
      statusTimestampAfter: v.optional(moment),
      includeArtifacts: v.optional(queryFlag, false),
    }),
    v.transform(({ status, statusTimestampAfter, ...rest }) => ({
      ...rest,
      state: status === '' ? undefined : status,
      updatedAfter: statusTimestampAfter,
    })),
  )
  return {
    get: params => check(get, params),
    list: params => check(list, orEmpty(params)),
    cancel: params => check(byId, params),
    subscribe: params => check(byId, params),
  }
}
