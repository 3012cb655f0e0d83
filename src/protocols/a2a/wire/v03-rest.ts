/**
 * A2A 0.3 on HTTP+JSON: the proto-JSON of its `a2a.proto`. It differs from the JSON-RPC shapes of 0.3 (specification 0.3.0,
 * section 3.2.3). Fields that the file does not define (names and metadata of parts, references to tasks) are read but
 * never written, because strict readers refuse unknown fields.
 *
 * @module
 */

import * as v from 'valibot'
import { isObject } from '../../../base/validation.ts'
import type { Message, Part, TaskState } from '../model.ts'
import type { PushConfig, PushConfigInput } from '../push/config.ts'
import { check, type Grammar, messageFields, parts, sendSchema, taskDecoders } from './decode.ts'
import { isFinal, type Json } from './encode.ts'
import * as f from './fields.ts'
import { PROTO, protoEncoders, protoPush, ROLES, STATES as STATES_OF_V1 } from './proto.ts'
import { configId, configOfV03, shown } from './push-config.ts'
import { compact, exactlyOne, protoRecord } from './record.ts'
import { unwrapData, wrapData } from './v03.ts'
import type { Wire } from './wire.ts'

/** The names of states. `CANCELLED` has two Ls here. */
const STATES: Readonly<Record<TaskState, string>> = { ...STATES_OF_V1, canceled: 'TASK_STATE_CANCELLED' }

const FileSchema = v.pipe(
  protoRecord({
    fileWithUri: v.optional(f.partUrl),
    fileWithBytes: v.optional(f.base64),
    mimeType: f.optionalText,
    name: f.optionalText,
  }),
  exactlyOne('fileWithUri', 'fileWithBytes'),
)

const PartSchema: v.GenericSchema<unknown, Part> = v.pipe(
  protoRecord({
    text: v.optional(f.text),
    file: v.optional(FileSchema),
    data: v.optional(protoRecord({ data: f.anyObject })),
    metadata: v.optional(f.anyObject),
  }),
  exactlyOne('text', 'file', 'data'),
  v.transform(({ text, file, data, metadata }) => {
    if (data !== undefined) return unwrapData(data.data, metadata)
    if (file === undefined) return { text, metadata }
    const { fileWithBytes, fileWithUri, mimeType, name } = file
    return { raw: fileWithBytes, url: fileWithUri, mediaType: mimeType, filename: name, metadata }
  }),
)

const grammar: Grammar = { ...PROTO, part: PartSchema, roles: ROLES, states: STATES }

const MessageSchema: v.GenericSchema<unknown, Message> = v.pipe(
  protoRecord({ ...messageFields(grammar), content: parts(PartSchema) }),
  v.transform(({ content, ...message }) => ({ ...message, parts: content })),
)

const PushSchema = configOfV03(protoRecord)

/** A config with its name, `tasks/{id}/pushNotificationConfigs/{config}`: alone, or in a request that creates it. */
const NamedSchema = protoRecord({ pushNotificationConfig: PushSchema })

/** If a configuration is given, the default of `blocking` is false. A client that wants to wait has to set it. */
const SendSchema = sendSchema(
  protoRecord,
  MessageSchema,
  protoRecord({
    acceptedOutputModes: v.optional(f.texts),
    pushNotification: v.optional(PushSchema),
    historyLength: v.optional(f.protoCount(0)),
    blocking: v.optional(f.flag, false),
  }),
  configuration => ({
    historyLength: unlessZero(configuration?.historyLength),
    returnImmediately: configuration?.blocking === false,
    pushConfig: configuration?.pushNotification,
  }),
)

/** The parameters of send, whose message is called `request` in the file itself. Readers accept both names. */
function named(params: unknown): unknown {
  if (!isObject(params) || params.message != null || params.request == null) return params
  const { request: message, configuration, metadata } = params
  return { message, configuration, metadata }
}

const { get, ...decoders } = taskDecoders(grammar)

/** Returns undefined for zero. In protocol buffers zero means not set, which asks for the whole history. */
function unlessZero(length: number | undefined): number | undefined {
  return length === 0 ? undefined : length
}

/** A2A 0.3 on HTTP+JSON. */
export const v03Rest: Wire = {
  version: '0.3',
  decode: {
    send: params => check(SendSchema, named(params)),
    ...decoders,
    get: params => {
      const { id, historyLength } = get(params)
      return { id, historyLength: unlessZero(historyLength) }
    },
  },
  push: protoPush(
    v.pipe(
      protoRecord({
        taskId: f.required,
        configId,
        config: v.optional(NamedSchema),
        pushNotificationConfig: v.optional(PushSchema),
      }),
      v.transform(({ taskId, configId, config, pushNotificationConfig: own }) => ({
        taskId,
        config: withId(config?.pushNotificationConfig ?? own, configId),
      })),
      v.check(({ config }) => config !== undefined, 'must have a `pushNotificationConfig`'),
      v.transform(({ taskId, config }) => ({ taskId, config: config! })),
    ),
    encodePush,
  ),
  encode: protoEncoders(
    {
      roles: ROLES,
      states: STATES,
      part: encodePart,
      messageBody: (_, content) => ({ content }),
    },
    (objects, update) => ({ ...objects.status(update), final: isFinal(update) }),
  ),
}

function withId(config: PushConfigInput | undefined, id: string | undefined): PushConfigInput | undefined {
  return config && { ...config, id: config.id || id }
}

function encodePush(taskId: string, config: PushConfig): Json {
  return {
    name: `tasks/${taskId}/pushNotificationConfigs/${config.id}`,
    pushNotificationConfig: shown(config, scheme => ({ schemes: [scheme] })),
  }
}

function encodePart({ text, raw, url, data, mediaType, metadata }: Part): Json {
  if (text !== undefined) return { text }
  const content = raw === undefined ? { fileWithUri: url } : { fileWithBytes: raw }
  if (raw === undefined && url === undefined) return { data: { data: wrapData(data, metadata).data } }
  return { file: { ...content, ...compact({ mimeType: mediaType }) } }
}
