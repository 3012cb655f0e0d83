/**
 * `POST /chat/completions`.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import { askedBy, idText } from '../../encoders/conversation.ts'
import { after, encoded } from '../../encoders/encoder.ts'
import { RequestAsker } from '../../http/asker.ts'
import type { Endpoint } from '../../http/context.ts'
import { idempotencyKeyOf } from '../../http/idempotency.ts'
import { validate } from '../../validation.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { jsonReply, sseReply } from '../../web/reply.ts'
import { counted } from '../../web/sse.ts'
import { answersTo } from '../answers.ts'
import { begin } from '../begin.ts'
import { asksJson, clientToolsOf, type Fields } from '../body.ts'
import { checkEnd, readThrough } from '../ending.ts'
import { cancelled } from '../errors.ts'
import type { Models } from '../models.ts'
import { ChatEncoder } from './encoder.ts'
import { ChatBodySchema, saidIn } from './messages.ts'

/** Answers a conversation that the client remembers, or that the session of a header does. */
export function completeChat(core: Core, models: Models, sessionHeader: string): Endpoint {
  const { maxBodyBytes, runs, openStream } = core
  return async (request, state) => {
    requireJson(request)
    const json = await readJson(request, maxBodyBytes)
    const body = validate(ChatBodySchema, json, 'invalid_body', 'body')
    const { messages, tools: _, ...told } = body
    const { model, stream, stream_options: options, response_format: format } = told
    const target = models.resolve(model)
    const isJson = asksJson(format, target, 'response_format')
    const clientTools = clientToolsOf(body)
    const { input, history, given } = saidIn(messages)
    const answers = given.length === 0 ? undefined : await answersTo(given, target, core.host, state.owner)
    const asker = new RequestAsker(request, state, core.readKeys)
    const started = await begin(core, asker, answers, {}, async () => {
      const thread = threadIn(request.headers, sessionHeader)
      const asked = await askedBy({ thread, input, history, clientTools }, target, core, state)
      const key = idempotencyKeyOf(request.headers)
      return { ...asked, metadata: { openai: told }, ...(key !== undefined && { key: { key, body: json } }) }
    })
    const { id: runId, run, record } = started
    state.started(runId)
    run?.arm()
    const isStream = stream === true
    const encoder = new ChatEncoder({
      ...{ runId, model, isStream, isJson, maxLength: runs.maxLength },
      created: Math.floor((record === undefined ? Date.now() : Date.parse(record.createdAt)) / 1000),
      tellsUsage: (Object(options) as Fields).include_usage === true,
      isStored: run === undefined,
      answered: answers?.asked,
    })
    const source = await encoded(started, encoder, core, request, state)
    const headers = { 'x-run-id': runId }
    if (isStream) return sseReply(counted(after(encoder.begin(), source), openStream), headers)
    await readThrough(source, request.signal)
    const { end } = encoder
    checkEnd(end)
    return end.finishReason === 'cancelled' ? cancelled() : jsonReply(encoder.answer(end), { headers })
  }
}

/** The session that a header names. */
function threadIn(headers: Headers, name: string): string | undefined {
  const thread = headers.get(name)
  return thread === null ? undefined : validate(idText, thread, 'invalid_header', name)
}
