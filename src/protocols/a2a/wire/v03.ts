/**
 * A2A 0.2 and 0.3 on JSON-RPC: the shapes of their JSON Schema, marked by `kind` (specification 0.3.0, section 6).
 *
 * @module
 */

import * as v from 'valibot'
import type { Metadata } from '../../../agents/run-types.ts'
import { isObject } from '../../../base/validation.ts'
import type { Message, Part, TaskState, TaskUpdate } from '../model.ts'
import type { PushConfig } from '../push/config.ts'
import { check, type Grammar, messageFields, parts, sendSchema, taskDecoders } from './decode.ts'
import { isFinal, type Json, objectEncoders, pageEncoder } from './encode.ts'
import * as f from './fields.ts'
import { wrap } from './proto.ts'
import { configOfV03, pushDecoder, shown } from './push-config.ts'
import { compact, exactlyOne, jsonRecord } from './record.ts'
import type { Wire } from './wire.ts'

const ROLES: Readonly<Record<Message['role'], string>> = { user: 'user', agent: 'agent' }

const STATES: Readonly<Record<TaskState, string>> = {
  submitted: 'submitted',
  working: 'working',
  'input-required': 'input-required',
  'auth-required': 'auth-required',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  rejected: 'rejected',
}

/** The kinds of parts. Each part has its content in the member with the name of its kind. */
const KINDS = ['text', 'file', 'data'] as const

const FileSchema = v.pipe(
  jsonRecord({
    bytes: v.optional(f.base64),
    uri: v.optional(f.partUrl),
    mimeType: f.optionalText,
    name: f.optionalText,
  }),
  exactlyOne('bytes', 'uri'),
)

/** A part (section 6.5). It must have the content of its kind and no other. */
const PartSchema: v.GenericSchema<unknown, Part> = v.pipe(
  jsonRecord({
    kind: v.picklist(KINDS, 'must be `text`, `file` or `data`'),
    text: v.optional(f.text),
    file: v.optional(FileSchema),
    data: v.optional(f.anyObject),
    metadata: v.optional(f.anyObject),
  }),
  v.check(
    part => KINDS.every(kind => Object.hasOwn(part, kind) === (kind === part.kind)),
    'must have the content that its `kind` names, and no other',
  ),
  v.transform(({ text, file, data, metadata }) => {
    if (data !== undefined) return unwrapData(data, metadata)
    if (file === undefined) return { text, metadata }
    return { raw: file.bytes, url: file.uri, mediaType: file.mimeType, filename: file.name, metadata }
  }),
)

const grammar: Grammar = {
  record: jsonRecord,
  part: PartSchema,
  roles: ROLES,
  states: STATES,
  count: f.count,
}

const MessageSchema: v.GenericSchema<unknown, Message> = v.pipe(
  jsonRecord({
    // The schema requires `kind`, but some clients leave it out because no other object is allowed here.
    kind: v.optional(v.literal('message', 'must be `message`')),
    ...messageFields(grammar),
    parts: parts(PartSchema),
  }),
  v.transform(({ kind: _, ...message }) => message),
)

const PushSchema = configOfV03(jsonRecord)

/** The parameters of send (section 7.1). The default of `blocking` is true, as in other servers of 0.3. */
const SendSchema = sendSchema(
  jsonRecord,
  MessageSchema,
  jsonRecord({
    acceptedOutputModes: v.optional(f.texts),
    pushNotificationConfig: v.optional(PushSchema),
    historyLength: v.optional(f.count(0)),
    blocking: v.optional(f.flag),
  }),
  configuration => ({
    returnImmediately: configuration?.blocking === false,
    pushConfig: configuration?.pushNotificationConfig,
  }),
)

const objects = objectEncoders({
  roles: ROLES,
  states: STATES,
  part: encodePart,
  messageBody: ({ referenceTaskIds }, parts) => ({ parts, ...compact({ referenceTaskIds }) }),
  mark: kind => ({ kind }),
})

const updates: { [K in TaskUpdate['type']]: (update: Extract<TaskUpdate, { type: K }>) => Json } = {
  task: ({ task }) => objects.task(task),
  message: ({ message }) => objects.message(message),
  status: update => ({ ...objects.status(update), final: isFinal(update) }),
  artifact: update => objects.artifact(update),
}

/** A2A 0.2 and 0.3 on JSON-RPC. */
export const v03: Wire = {
  version: '0.3',
  decode: {
    send: params => check(SendSchema, params),
    ...taskDecoders(grammar),
  },
  push: {
    decode: pushDecoder({
      record: jsonRecord,
      taskId: 'id',
      configId: 'pushNotificationConfigId',
      set: v.pipe(
        jsonRecord({ taskId: f.required, pushNotificationConfig: PushSchema }),
        v.transform(({ taskId, pushNotificationConfig: config }) => ({ taskId, config })),
      ),
    }),
    encode: encodePush,
    encodeList: (taskId, { configs }) => configs.map(config => encodePush(taskId, config)),
    deleted: null,
  },
  encode: {
    task: objects.task,
    sent: result => ('task' in result ? objects.task(result.task) : objects.message(result.message)),
    update: update => wrap(updates, update),
    page: pageEncoder(objects.task),
  },
}

function encodePush(taskId: string, config: PushConfig): Json {
  return { taskId, pushNotificationConfig: shown(config, scheme => ({ schemes: [scheme] })) }
}

function encodePart({ text, raw, url, data, mediaType, filename, metadata }: Part): Json {
  if (text !== undefined) return { kind: 'text', text, ...compact({ metadata }) }
  const content = raw === undefined ? { uri: url } : { bytes: raw }
  if (raw === undefined && url === undefined) return { kind: 'data', ...wrapData(data, metadata) }
  const file = { ...content, ...compact({ mimeType: mediaType, name: filename }) }
  return { kind: 'file', file, ...compact({ metadata }) }
}

const MARK = 'data_part_compat'

/** The members of a part that contains an object. */
interface ObjectData {
  readonly data: Metadata
  readonly metadata?: Metadata
}

/**
 * Wraps any JSON value as an object, because data parts of 0.2 and 0.3 contain only objects, and those of 1.0 any JSON. A value
 * that is no object becomes `{ value }`. The part's metadata marks it as the official SDKs do.
 */
export function wrapData(data: unknown, metadata: Metadata | undefined): ObjectData {
  if (!isObject(data)) return { data: { value: data ?? null }, metadata: { ...metadata, [MARK]: true } }
  return metadata === undefined ? { data } : { data, metadata }
}

/** Makes the part from an object, and unwraps a marked value. */
export function unwrapData(data: Metadata, metadata: Metadata | undefined): Part {
  if (metadata?.[MARK] !== true || !Object.hasOwn(data, 'value')) return { data, metadata }
  const { [MARK]: _, ...rest } = metadata
  return { data: data.value, metadata: Object.keys(rest).length === 0 ? undefined : rest }
}
