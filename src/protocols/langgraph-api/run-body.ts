/**
 * The body that starts a run. Fields that it does not know are ignored, as clients of each version send others.
 *
 * @module
 */

import type { Metadata } from '../../core-entry.ts'
import { misfit } from '../encoders/index.ts'
import { choiceIn, type Fields, objectIn } from './asked.ts'
import { modesIn } from './frames.ts'
import { messagesIn, type SentMessage } from './messages.ts'
import { metadataIn } from './threads.ts'

/** A run to start. */
export interface RunBody {
  readonly assistant: string
  readonly input: unknown
  /** The messages of the input. None: the thread goes on. */
  readonly sent: readonly SentMessage[]
  readonly isResuming: boolean
  readonly resume: unknown
  readonly fields: Fields
  readonly modes: ReadonlySet<string>
  readonly strategy: 'enqueue' | 'reject' | 'interrupt' | 'rollback'
  readonly stopsWithReader: boolean
  readonly createsThread: boolean
  /** Whether a run without a thread is kept after its end. */
  readonly isKept: boolean
  readonly namesAgents: boolean
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

/** Reads a body. Throws `invalid_body`. */
export function readRunBody(body: Fields): RunBody {
  const { assistant_id: assistant, input, command, config } = body
  if (typeof assistant !== 'string' || assistant === '')
    throw misfit('assistant_id', 'must be the id or the name of an assistant')
  const commanded = objectIn(command, 'command')
  refuse(body, commanded)
  const strategy = choiceIn(body.multitask_strategy, 'multitask_strategy', STRATEGIES, 'enqueue')
  const metadata = metadataIn(body.metadata)
  const { configurable } = objectIn(config, 'config')
  const update = objectIn(commanded.update, 'command.update')
  const given = input ?? (Object.keys(update).length > 0 ? update : undefined)
  return {
    ...{ assistant, input: given, sent: messagesIn(given, 'input') },
    isResuming: commanded.resume !== undefined && commanded.resume !== null,
    resume: commanded.resume,
    fields: body,
    modes: modesIn(body.stream_mode),
    strategy,
    stopsWithReader:
      choiceIn(body.on_disconnect, 'on_disconnect', ['cancel', 'continue'], 'continue') === 'cancel',
    createsThread: choiceIn(body.if_not_exists, 'if_not_exists', ['reject', 'create'], 'reject') === 'create',
    isKept: choiceIn(body.on_completion, 'on_completion', ['delete', 'keep'], 'delete') === 'keep',
    namesAgents: body.stream_subgraphs === true,
    about: {
      ...{ metadata, configurable: ownIn(configurable), context: metadataOf(body.context, 'context') },
      strategy,
    },
  }
}

const STRATEGIES = ['enqueue', 'reject', 'interrupt', 'rollback'] as const

/** Throws `invalid_body` for what is not supported, so that nobody believes it was done. */
function refuse(body: Fields, command: Fields): void {
  const { goto } = command
  if (goto !== undefined && goto !== null && !(Array.isArray(goto) && goto.length === 0)) {
    throw misfit('command.goto', 'is not supported: an agent has no nodes to go to')
  }
  for (const name of ['interrupt_before', 'interrupt_after']) {
    const nodes = body[name]
    if (nodes !== undefined && nodes !== null && !(Array.isArray(nodes) && nodes.length === 0)) {
      throw misfit(name, 'is not supported: let a tool need an approval instead')
    }
  }
  if (typeof body.after_seconds === 'number' && body.after_seconds > 0) {
    throw misfit('after_seconds', 'is not supported: use a schedule')
  }
  if (body.webhook !== undefined && body.webhook !== null) {
    throw misfit('webhook', 'is not supported: subscribe at `/webhooks`')
  }
}

function metadataOf(value: unknown, field: string): Metadata {
  const metadata = objectIn(value, field)
  return Object.keys(metadata).length === 0 ? metadata : metadataIn(metadata)
}

/** What a client configures, without the keys of the service: a run is of the thread in its path. */
function ownIn(configurable: unknown): Metadata {
  const all = Object.entries(metadataOf(configurable, 'config.configurable'))
  return Object.fromEntries(
    all.filter(([key]) => !/^(thread_id|run_id|graph_id|assistant_id|checkpoint|langgraph_|__)/.test(key)),
  )
}
