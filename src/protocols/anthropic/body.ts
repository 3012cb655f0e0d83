/**
 * The body of `POST /messages`. Unknown fields are ignored, and so are those for sampling and caching, because every client sends
 * some.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError, type Target } from '../../core-entry.ts'
import { flag, isObject, list, misfit, validate } from '../encoders/index.ts'
import { checkOutput, clientToolOf, type Fields, object, objects, tools } from '../models/body.ts'
import { NO_THREADS } from './errors.ts'

/** Most blocks of the system's text. */
const MAX_SYSTEM = 1000

/** The body, without nulls. */
export interface MessagesBody {
  readonly model: string
  readonly messages: readonly Fields[]
  readonly system?: string | readonly Fields[] | undefined
  readonly stream?: boolean | undefined
  readonly tools?: readonly Fields[] | undefined
  readonly tool_choice?: Fields | undefined
  readonly thinking?: Fields | undefined
  readonly output_config?: Fields | undefined
  readonly thread?: unknown
}

const text = v.string('must be text')

/** The schema of a body. */
export const MessagesBodySchema: v.GenericSchema<unknown, MessagesBody> = v.object({
  model: text,
  messages: objects,
  system: v.optional(v.union([text, list(object, MAX_SYSTEM)], 'must be text or blocks of text')),
  stream: v.optional(flag),
  tools: v.optional(tools),
  tool_choice: v.optional(object),
  thinking: v.optional(object),
  output_config: v.optional(object),
  thread: v.optional(v.unknown()),
})

/**
 * Checks a body. Throws `invalid_body`, and for a request that leaves its conversation to a thread `unsupported_operation`, upon which
 * the client sends all of it.
 */
export function bodyOf(json: Fields): MessagesBody {
  const body = validate(MessagesBodySchema, json, 'invalid_body', 'body')
  if (Object(body.thread).type !== 'continue') return body
  throw new ServableError('unsupported_operation', 'Threads are not kept here: send all messages', {
    details: NO_THREADS,
  })
}

/** How a request wants its answer. */
export interface Wanted {
  readonly clientTools?: readonly Fields[] | undefined
  /** Whether the answer is the structured output. */
  readonly isJson: boolean
  /** The tool as whose call the structured output comes. Undefined: it comes as text. */
  readonly tool?: string | undefined
}

/**
 * The tools of the client, and the form of the answer. Tools of a provider are left out. A tool that must be called is how clients ask
 * for structured output. Throws `invalid_body` for an agent that has none, because agents choose tools themselves.
 */
export function wantedOf(
  { tools: all = [], tool_choice, output_config }: MessagesBody,
  target: Target,
): Wanted {
  const own = all.filter(({ type }) => (type ?? 'custom') === 'custom')
  const { type: choice = 'auto', name } = tool_choice ?? {}
  const isJson = Object(Object(output_config).format).type === 'json_schema'
  if (isJson) checkOutput(target, 'output_config.format', 'left out')
  switch (choice) {
    case 'none':
      return { isJson }
    case 'auto': {
      const clientTools = own.map(tool => clientToolOf(tool, tool.input_schema))
      return { isJson, clientTools: clientTools.length === 0 ? undefined : clientTools }
    }
    case 'any':
    case 'tool': {
      const named = choice === 'any' ? own : own.filter(tool => tool.name === name)
      const [tool, ...others] = named
      if (typeof tool?.name !== 'string' || others.length > 0)
        throw misfit('tool_choice', 'must name one of the tools, or be `auto` or `none`')
      checkOutput(target, 'tool_choice', '`auto` or `none`')
      return { isJson: true, tool: tool.name }
    }
    default:
      throw misfit('tool_choice.type', 'must be auto, any, tool or none')
  }
}

/** The text with which Claude Code tells its provider whom to bill. It is for nobody else. */
const BILLING = /^x-anthropic-billing-header:/

/** The system's text. */
export function systemOf({ system = '' }: MessagesBody): string {
  if (typeof system === 'string') return BILLING.test(system) ? '' : system
  return system
    .map(({ text: said }) => (typeof said === 'string' && !BILLING.test(said) ? said : ''))
    .filter(said => said !== '')
    .join('\n\n')
}

/** Whether a client wants to see thoughts. */
export function wantsThinking({ thinking }: MessagesBody): boolean {
  return !isObject(thinking) || thinking.type !== 'disabled'
}
