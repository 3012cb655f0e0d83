/**
 * A2A 1.0 on JSON-RPC and HTTP+JSON: the proto-JSON of `a2a.proto` (specification 1.0.1, sections 4 and 5).
 *
 * @module
 */

import * as v from 'valibot'
import type { Message, Part } from '../model.ts'
import type { PushConfig } from '../push/config.ts'
import { check, type Grammar, messageFields, parts, sendSchema, taskDecoders } from './decode.ts'
import type { Json } from './encode.ts'
import * as f from './fields.ts'
import { PROTO, protoEncoders, protoPush, ROLES, STATES } from './proto.ts'
import { configOfV1, shown } from './push-config.ts'
import { compact, exactlyOne, protoRecord } from './record.ts'
import type { Wire } from './wire.ts'

/** A part (section 4.1.6). It has one content. `data` is any JSON, including null. */
const PartSchema: v.GenericSchema<unknown, Part> = v.pipe(
  protoRecord(
    {
      text: v.optional(f.text),
      raw: v.optional(f.base64),
      url: v.optional(f.partUrl),
      data: v.optional(v.unknown()),
      mediaType: f.optionalText,
      filename: f.optionalText,
      metadata: v.optional(f.anyObject),
    },
    ['data'],
  ),
  exactlyOne('text', 'raw', 'url', 'data'),
)

const grammar: Grammar = { ...PROTO, part: PartSchema, roles: ROLES, states: STATES }

const MessageSchema: v.GenericSchema<unknown, Message> = protoRecord({
  ...messageFields(grammar),
  parts: parts(PartSchema),
})

const PushSchema = configOfV1(protoRecord)

/** The parameters of send (section 3.2.1), with the configuration of section 3.2.2. */
const SendSchema = sendSchema(
  protoRecord,
  MessageSchema,
  protoRecord({
    acceptedOutputModes: v.optional(f.texts),
    taskPushNotificationConfig: v.optional(PushSchema),
    historyLength: v.optional(f.protoCount(0)),
    returnImmediately: v.optional(f.flag),
  }),
  configuration => ({
    returnImmediately: configuration?.returnImmediately ?? false,
    pushConfig: configuration?.taskPushNotificationConfig,
  }),
)

/** The wire of A2A 1.0. */
export const v1: Wire = {
  version: '1.0',
  decode: {
    send: params => check(SendSchema, params),
    ...taskDecoders(grammar),
  },
  push: protoPush(
    v.pipe(
      v.intersect([protoRecord({ taskId: f.required }), PushSchema]),
      v.transform(({ taskId, ...config }) => ({ taskId, config })),
    ),
    encodePush,
  ),
  encode: protoEncoders(
    {
      roles: ROLES,
      states: STATES,
      part: encodePart,
      messageBody: ({ referenceTaskIds }, parts) => ({ parts, ...compact({ referenceTaskIds }) }),
    },
    (objects, update) => objects.status(update),
  ),
}

function encodePush(taskId: string, config: PushConfig): Json {
  return { taskId, ...shown(config, scheme => ({ scheme })) }
}

const TEXTUAL = ['text', 'raw', 'url'] as const

function encodePart(part: Part): Json {
  const { mediaType, filename, metadata } = part
  const name = TEXTUAL.find(name => part[name] !== undefined) ?? 'data'
  return { [name]: part[name] ?? null, ...compact({ mediaType, filename, metadata }) }
}
