/**
 * Chats of the AI SDK (`useChat`) as a plugin: the entry `servable/ai-sdk-ui`.
 *
 * Begin with `routes.ts`, then `messages.ts` (a request), `chat.ts` and `stream.ts` (its parts). May import `core` and what is
 * below it, and no other protocol but `encoders`.
 *
 * @module
 */

import * as v from 'valibot'
import {
  type Builders,
  type Description,
  type Kind,
  type OperationParts,
  type Paths,
  type Plugin,
  ServableError,
} from '../../core-entry.ts'
import { checkOptions, flag, KINDS } from '../encoders/index.ts'
import { Chats } from './chat.ts'
import { ChatSchema } from './messages.ts'
import { chatRoutes, NAME, type NamedServable } from './routes.ts'

/** Options of chats. */
export interface AiSdkUiOptions {
  /** The servable of `{prefix}/chat`. A string is the name of an agent. Default: the only servable of the handler. */
  readonly agent?: string | NamedServable | undefined
  /**
   * Whether runs outlive their page. If so, a page that reconnects reads the answer from its beginning (`useChat` with `resume`),
   * and `stopChat` stops the answer. It needs a state. Default: false, so a page that disconnects stops its run.
   */
  readonly resume?: boolean | undefined
}

const name = v.pipe(v.string('must be text'), v.nonEmpty('must not be empty'))

const OptionsSchema = v.strictObject({
  agent: v.optional(
    v.union(
      [name, v.strictObject({ kind: v.picklist(KINDS), name })],
      'must be the name of an agent, or { kind, name }',
    ),
  ),
  resume: v.optional(flag),
})

/**
 * Serves chats to `useChat` of the AI SDK 5, 6 and 7: `POST {prefix}/agents/:name/chat`, teams and workflows alike, and
 * `{prefix}/chat`. Throws `invalid_options`.
 */
export function aiSdkUi(options: AiSdkUiOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const { agent, resume = false } = options
  const named = typeof agent === 'string' ? { kind: 'agent' as const, name: agent } : agent
  return {
    name: NAME,
    mount(core) {
      if (resume && !core.storesRuns)
        throw new ServableError(
          'invalid_options',
          `\`${NAME}.resume\` needs stored runs: give the handler a \`state\``,
        )
      return {
        routes: chatRoutes(core, new Chats(resume), named),
        describe: describeChats,
      }
    },
  }
}

/** Describes the routes for the OpenAPI document. */
function describeChats(build: Builders): Description {
  return {
    paths: Object.assign({}, ...[...KINDS, undefined].map(kind => pathsOf(build, kind))),
    bodies: { ChatBody: ChatSchema },
  }
}

/** The routes of a kind, or those of `{prefix}/chat`. */
function pathsOf(build: Builders, kind: Kind | undefined): Paths {
  const { at, parameter, answer, json, ref, text } = build
  const path = at(kind === undefined ? 'chat' : `${kind}s/{name}/chat`)
  const of = kind === undefined ? '' : `${kind[0]?.toUpperCase()}${kind.slice(1)}`
  const name = kind === undefined ? [] : [build.nameOf(kind)]
  const stream = answer('Chunks of a UI message stream', build.eventStream(build.object({ type: text })))
  const failed = answer('The text of the error', { 'text/plain': { schema: text } })
  const operation = (verb: string, summary: string, { responses, ...parts }: OperationParts) =>
    build.operation('runs', `${verb}${of}Chat`, summary, {
      parameters: verb === 'tell' ? name : [...name, parameter('path', 'chatId', 'Id of the chat')],
      ...parts,
      responses: { ...responses, default: failed },
    })
  return {
    [path]: {
      post: operation('tell', 'Answer a chat of `useChat`', {
        requestBody: { required: true, content: json(ref('ChatBody')) },
        responses: { 200: stream },
      }),
    },
    [`${path}/{chatId}/stream`]: {
      get: operation('resume', 'Get the answer of a chat from its beginning', {
        responses: { 200: stream, 204: { description: 'There is none' } },
      }),
    },
    [`${path}/{chatId}/stop`]: {
      post: operation('stop', 'Stop a chat', {
        responses: { 204: { description: 'None is at work' } },
      }),
    },
  }
}
