/**
 * `POST /messages`.
 *
 * @module
 */

import type {
  CallerRuns,
  Context,
  HistoryMessage,
  InputRequest,
  PluginCore,
  PluginRoute,
  Target,
} from '../../core-entry.ts'
import type { ReplyHeaders } from '../../web/reply.ts'
import { answeredOnly, askedRunOf, ignoring } from '../encoders/index.ts'
import { answersTo, type RunAnswers } from '../models/answers.ts'
import { endpointOf } from '../models/endpoint.ts'
import { idOfCall, runOf } from '../models/ids.ts'
import type { Models } from '../models/offered.ts'
import { bodyOf, systemOf, wantedOf, wantsThinking } from './body.ts'
import { MessageEncoder } from './encoder.ts'
import { type ParsedMessages, parseMessages } from './messages.ts'

/** How answers contain the calls of tools that ran here. */
export type ToolCalls = 'mcp_tool_use' | 'hidden'

/** What the endpoint depends on. */
export interface MessageSettings {
  readonly toolCalls: ToolCalls
  readonly headersOf: (context: Context) => ReplyHeaders
}

/** The id of a call for the client. */
export function idFor(
  runId: string,
  { id, toolCallId = id }: Pick<InputRequest, 'id' | 'toolCallId'>,
): string {
  return idOfCall('toolu', runId, toolCallId)
}

/** Answers a conversation that the client remembers. */
export function createMessage(
  core: PluginCore,
  models: Models,
  { toolCalls, headersOf }: MessageSettings,
): PluginRoute['endpoint'] {
  return endpointOf(
    core,
    async (json, { runs }, { requestId }) => {
      const body = bodyOf(json)
      const { model, stream: isStream = false } = body
      const { messages: _, tools: __, system: ___, ...anthropic } = json
      const target = models.resolve(model)
      const { isJson, tool, clientTools } = wantedOf(body, target)
      const parsed = parseMessages(body.messages, systemOf(body))
      const about = {
        ...{ model, isStream, isJson, tool, toolCalls, requestId },
        showsThinking: wantsThinking(body),
      }
      return {
        how: { metadata: { anthropic } },
        answers: await answersIn(parsed, target, runs),
        mayStart: parsed.input !== undefined,
        async asked() {
          const { input, earlier } = parsed
          const history = () => answeredOnly(earlier as HistoryMessage[])
          return askedRunOf({ input, history, clientTools }, target)
        },
        toEncoder: facts => new MessageEncoder({ ...facts, ...about }),
      }
    },
    headersOf,
  )
}

/** The codes of results for which nothing waits: of another service, of a run that is gone, or answered before. */
const GONE = ['run_not_found', 'request_not_found', 'already_answered'] as const

/**
 * The answers in a request. Undefined if there are none, or if nothing waits for them and the user says more: then they are a part of
 * the history.
 */
async function answersIn(
  { given, earlier, input }: ParsedMessages,
  target: Target,
  runs: CallerRuns,
): Promise<RunAnswers | undefined> {
  const last = given.findLast(({ id }) => runOf(id) !== undefined)
  if (given.length === 0 || (last === undefined && input !== undefined)) return undefined
  const codes = input === undefined ? [] : GONE
  const known = last === undefined ? given : [...given.filter(each => each !== last), last]
  return answersTo({ given: known, earlier, target, idFor }, runs).catch(ignoring(...codes))
}
