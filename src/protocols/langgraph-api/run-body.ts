/**
 * The body that starts a run. Fields that it does not know are ignored, as clients of each version send others.
 *
 * @module
 */

import * as v from 'valibot'
import type { Metadata } from '../../core-entry.ts'
import { choice, type Fields, fields, metadata, never } from './asked.ts'
import { modesIn } from './frames.ts'
import { messagesIn, type SentMessage } from './messages.ts'

/** A run to start. */
export interface RunBody {
  readonly assistant: string
  readonly input: unknown
  /** The messages of the input. None: the thread goes on. */
  readonly sent: readonly SentMessage[]
  readonly resume: unknown
  /** The id of the checkpoint from which it starts. */
  readonly checkpointId: string | undefined
  readonly modes: ReadonlySet<string>
  readonly strategy: 'enqueue' | 'reject' | 'interrupt' | 'rollback'
  readonly stopsWithReader: boolean
  readonly createsThread: boolean
  /** Whether a run without a thread is kept after its end. */
  readonly isKept: boolean
  /** What the agent gets as facts of the transport, and what is told of the run. */
  readonly about: RunAbout
}

/** What a client says of its run. */
export interface RunAbout {
  readonly metadata: Metadata
  readonly configurable: Metadata
  readonly context: Metadata
  readonly strategy: string
}

const unsupported = never('is not supported: let a tool need an approval instead')

/** Where a checkpoint is named. What else stands beside its id does not count: the thread is that of the path. */
export const checkpointFields: Readonly<
  Record<'checkpoint' | 'checkpoint_id', v.GenericSchema<unknown, unknown>>
> = {
  checkpoint: v.nullish(fields),
  checkpoint_id: v.nullish(v.string('must be text')),
}

/** The id of the checkpoint that a body names. */
export function checkpointIn({ checkpoint, checkpoint_id: own }: Fields): string | undefined {
  const { checkpoint_id: inside } = Object(checkpoint) as Fields
  const id = own ?? inside
  return id === undefined || id === null ? undefined : String(id)
}

const BodySchema = v.object({
  assistant_id: v.pipe(
    v.string('must be the id or the name of an assistant'),
    v.nonEmpty('must not be empty'),
  ),
  input: v.optional(v.unknown()),
  command: v.nullish(
    v.object({
      resume: v.optional(v.unknown()),
      update: v.nullish(fields),
      goto: never('is not supported: an agent has no nodes to go to'),
    }),
  ),
  config: v.nullish(v.object({ configurable: metadata })),
  context: metadata,
  metadata,
  stream_mode: v.optional(v.unknown()),
  stream_resumable: v.optional(v.unknown()),
  ...checkpointFields,
  multitask_strategy: choice(['enqueue', 'reject', 'interrupt', 'rollback'], 'enqueue'),
  on_disconnect: choice(['continue', 'cancel'], 'continue'),
  if_not_exists: choice(['reject', 'create'], 'reject'),
  on_completion: choice(['delete', 'keep'], 'delete'),
  ...{ interrupt_before: unsupported, interrupt_after: unsupported },
  after_seconds: v.nullish(v.literal(0, 'is not supported: use a schedule')),
  webhook: never('is not supported: subscribe at `/webhooks`'),
})

/** A body that starts a run. */
export const RunBodySchema: v.GenericSchema<unknown, RunBody> = v.pipe(
  BodySchema,
  v.transform(({ command, config, context, ...body }): RunBody => {
    const input = body.input ?? command?.update
    const { multitask_strategy: strategy } = body
    return {
      ...{ assistant: body.assistant_id, input, sent: messagesIn(input, 'input'), resume: command?.resume },
      ...{ checkpointId: checkpointIn(body), modes: modesIn(body.stream_mode), strategy },
      stopsWithReader: body.on_disconnect === 'cancel',
      createsThread: body.if_not_exists === 'create',
      isKept: body.on_completion === 'keep' || body.stream_resumable === true,
      about: { metadata: body.metadata, configurable: ownIn(config?.configurable ?? {}), context, strategy },
    }
  }),
)

/** What a client configures, without the keys of the service. */
function ownIn(configurable: Metadata): Metadata {
  const isOurs = (key: string) =>
    /^(thread_id|run_id|graph_id|assistant_id|checkpoint|langgraph_|__)/.test(key)
  return Object.fromEntries(Object.entries(configurable).filter(([key]) => !isOurs(key)))
}
