/**
 * The parts that both generations of proto-JSON share: how they are read, names of roles and states, and the wrappers of results.
 *
 * @module
 */

import type { Message, StatusUpdate, TaskState, TaskUpdate } from '../model.ts'
import type { Grammar } from './decode.ts'
import { type Dialect, type Json, type ObjectEncoders, objectEncoders, pageEncoder } from './encode.ts'
import { protoCount } from './fields.ts'
import { type PushGrammar, pushDecoder } from './push-config.ts'
import { protoRecord } from './record.ts'
import type { PushWire, Wire } from './wire.ts'

/** How proto-JSON is read: fields have two names each, and whole numbers may be text. */
export const PROTO: Pick<Grammar, 'record' | 'count'> = { record: protoRecord, count: protoCount }

/** The names of roles (section 4.1.5). */
export const ROLES: Readonly<Record<Message['role'], string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' }

/** The names of states (section 4.1.3). */
export const STATES: Readonly<Record<TaskState, string>> = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  rejected: 'TASK_STATE_REJECTED',
}

/** The encoders of a proto-JSON wire. Each result is wrapped in the key of its `oneof` (section 3.2.3). */
export function protoEncoders(
  dialect: Omit<Dialect, 'mark'>,
  status: (objects: ObjectEncoders, update: StatusUpdate) => Json,
): Wire['encode'] {
  const objects = objectEncoders({ ...dialect, mark: () => ({}) })
  const wrappers: { [K in TaskUpdate['type']]: (update: Extract<TaskUpdate, { type: K }>) => Json } = {
    task: ({ task }) => ({ task: objects.task(task) }),
    message: ({ message }) => ({ message: objects.message(message) }),
    status: update => ({ statusUpdate: status(objects, update) }),
    artifact: update => ({ artifactUpdate: withoutFalse(objects.artifact(update)) }),
  }
  return {
    task: objects.task,
    sent: result =>
      'task' in result ? { task: objects.task(result.task) } : { message: objects.message(result.message) },
    update: update => wrap(wrappers, update),
    page: pageEncoder(objects.task),
  }
}

/** How a proto-JSON wire reads and writes push notification configs. `set` reads a config and the id of its task. */
export function protoPush(set: PushGrammar['set'], encode: PushWire['encode']): PushWire {
  return {
    decode: pushDecoder({ ...PROTO, taskId: 'taskId', configId: 'id', set }),
    encode,
    encodeList: (taskId, { configs, nextPageToken }) => ({
      configs: configs.map(config => encode(taskId, config)),
      nextPageToken,
    }),
    deleted: {},
  }
}

/** Calls the encoder in `table` for the type of an update. */
export function wrap<U extends TaskUpdate>(
  table: { [K in TaskUpdate['type']]: (update: Extract<TaskUpdate, { type: K }>) => Json },
  update: U,
): Json {
  const entry = table[update.type] as (update: TaskUpdate) => Json
  return entry(update)
}

/** Removes false members, which proto-JSON leaves out. */
function withoutFalse(members: Json): Json {
  const kept: Record<string, unknown> = {}
  for (const name in members) if (members[name] !== false) kept[name] = members[name]
  return kept
}
