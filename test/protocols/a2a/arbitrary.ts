import fc from 'fast-check'
import type {
  ArtifactUpdate,
  Message,
  Part,
  StatusUpdate,
  Task,
  TaskStatus,
} from '../../../src/protocols/a2a/model.ts'

/** Objects that JSON can carry unchanged. */
export const jsonObject: fc.Arbitrary<Record<string, unknown>> = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 })
  .map(value => JSON.parse(JSON.stringify(value)))

const jsonValue = fc.jsonValue({ maxDepth: 3 }).map(value => JSON.parse(JSON.stringify(value)) as unknown)
const base64 = fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes).toString('base64'))
const id = fc.string({ minLength: 1, maxLength: 12 })
const ids = fc.array(id, { minLength: 1, maxLength: 3 })
const name = fc.string({ minLength: 1, maxLength: 12 })

/** A record whose members are all optional. */
function some<T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(model, { requiredKeys: [] })
}

const content: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ raw: base64 }),
  fc.record({ url: name }),
  fc.record({ data: jsonValue }),
)

/** A part with any content. */
export const part: fc.Arbitrary<Part> = fc
  .tuple(content, some({ mediaType: name, filename: name, metadata: jsonObject }))
  .map(([content, rest]) => ({ ...content, ...rest }))

const parts = fc.array(part, { minLength: 1, maxLength: 3 })

/** A message of a user or an agent. */
export const message: fc.Arbitrary<Message> = fc
  .tuple(
    fc.record({ messageId: id, role: fc.constantFrom('user', 'agent'), parts }),
    some({ contextId: id, taskId: id, metadata: jsonObject, extensions: ids, referenceTaskIds: ids }),
  )
  .map(([needed, rest]) => ({ ...needed, ...rest }))

const state = fc.constantFrom(
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
)

const status: fc.Arbitrary<TaskStatus> = fc
  .tuple(
    fc.record({
      state,
      timestamp: fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
        .map(d => d.toISOString()),
    }),
    some({ message }),
  )
  .map(([needed, rest]) => ({ ...needed, ...rest }))

const artifact = fc
  .tuple(
    fc.record({ artifactId: id, parts }),
    some({ name, description: name, metadata: jsonObject, extensions: ids }),
  )
  .map(([needed, rest]) => ({ ...needed, ...rest }))

/** A task, with or without a history and artifacts. */
export const task: fc.Arbitrary<Task> = fc
  .tuple(
    fc.record({ id, contextId: id, status }),
    some({
      artifacts: fc.array(artifact, { minLength: 1, maxLength: 2 }),
      history: fc.array(message, { minLength: 1, maxLength: 3 }),
      metadata: jsonObject,
    }),
  )
  .map(([needed, rest]) => ({ ...needed, ...rest }))

/** A change of a task's status. */
export const statusUpdate: fc.Arbitrary<StatusUpdate> = fc
  .tuple(
    fc.record({ type: fc.constant('status' as const), taskId: id, contextId: id, status }),
    some({ metadata: jsonObject }),
  )
  .map(([needed, rest]) => ({ ...needed, ...rest }))

/** A chunk of an artifact. */
export const artifactUpdate: fc.Arbitrary<ArtifactUpdate> = fc
  .tuple(
    fc.record({
      type: fc.constant('artifact' as const),
      taskId: id,
      contextId: id,
      artifact,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    }),
    some({ metadata: jsonObject }),
  )
  .map(([needed, rest]) => ({ ...needed, ...rest }))
