/**
 * `POST /agents/:name/ag-ui`, and the same for teams and workflows.
 *
 * @module
 */

import type { FinishEvent, Kind } from '../agents/contract.ts'
import { KINDS } from '../agents/registry.ts'
import type { Core } from '../core/built-in.ts'
import { askedBy } from '../encoders/conversation.ts'
import { encoded, sseData } from '../encoders/encoder.ts'
import { RequestAsker } from '../http/asker.ts'
import type { Endpoint, Route } from '../http/context.ts'
import { joinPath } from '../http/router.ts'
import type { StartedRun } from '../http/start-run.ts'
import { readJson, requireJson } from '../web/body.ts'
import { sseReply } from '../web/reply.ts'
import { counted, type SseSource } from '../web/sse.ts'
import { answersOf } from './answers.ts'
import { AgUiEncoder, type AgUiRun } from './encoder.ts'
import { finished } from './finish.ts'
import { parseInput, type RunAgentInput } from './input.ts'
import { conversationOf, lastUserOf } from './messages.ts'

/** The routes of every kind. */
export function agUiRoutes(core: Core): Route[] {
  return KINDS.map(kind => ({
    method: 'POST',
    path: joinPath(core.prefix, `${kind}s`, ':name', 'ag-ui'),
    part: 'ag-ui',
    endpoint: answer(kind, core),
  }))
}

function answer(kind: Kind, core: Core): Endpoint {
  const { catalog, host, maxBodyBytes, readKeys, openStream } = core
  return async (request, state) => {
    const target = catalog.resolve(kind, state.params.name ?? '')
    requireJson(request)
    const input = parseInput(await readJson(request, maxBodyBytes))
    const asker = new RequestAsker(request, state, readKeys)
    const client = namesOf(input)
    const isVersion1 = input.protocolVersion !== undefined
    const reply = (runId: string, source?: SseSource, end = '') =>
      sseReply(counted(after(begun(input) + end, source), openStream), { 'x-run-id': runId })
    const stream = async (started: StartedRun, known?: Known) => {
      const { id: runId, run } = started
      state.started(runId)
      run?.arm()
      const encoder = new AgUiEncoder({
        runId,
        client,
        isVersion1,
        mayResume: run === undefined,
        ...known,
      })
      return reply(runId, await encoded(started, encoder, core, request, state))
    }
    const end = (runId: string, event: Omit<FinishEvent, 'type'>) =>
      reply(runId, undefined, sseData(finished({ type: 'finish', ...event }, { client, isVersion1 })))

    const given = await answersOf(input, target, host, state.owner)
    if (given === undefined) {
      const asked = await askedBy(conversationOf(input), target, core, state)
      return stream(await core.start({ ...asked, metadata: metadataOf(input) }, asker))
    }
    const { id, answers, decided } = given
    if (answers.length === 0) return end(id, { finishReason: 'cancelled' })
    const { record, started } = await core.answer({ id, answers }, asker)
    if (started !== undefined) return stream(started, knownTo(input, decided))
    const { requests } = record
    return end(id, { finishReason: 'input_required', ...(requests && { requests }) })
  }
}

type Known = Pick<AgUiRun, 'calls' | 'results'>

/** What a client has of the turn that goes on. A decision on a call is not its result. */
function knownTo({ messages }: RunAgentInput, decided: ReadonlySet<string>): Known {
  const turn = messages.slice(lastUserOf(messages) + 1)
  const calls = turn.flatMap(each => (each.role === 'assistant' ? (each.toolCalls ?? []) : []))
  const results = turn.flatMap(each => (each.role === 'tool' ? [each.toolCallId] : []))
  return {
    calls: new Set([...calls.map(({ id }) => id), ...decided]),
    results: new Set(results.filter(id => !decided.has(id))),
  }
}

function namesOf({ threadId, runId }: RunAgentInput) {
  return { threadId, runId }
}

/** What an agent finds in `metadata.agui`. */
function metadataOf({ runId, state, context, forwardedProps }: RunAgentInput) {
  return { agui: { runId, state, context, forwardedProps } }
}

/** The first event. The client's own ids are told: an id of ours is in `x-run-id`. */
function begun(input: RunAgentInput): string {
  const protocolVersion = input.protocolVersion === undefined ? undefined : '1.0'
  return sseData({ type: 'RUN_STARTED', ...namesOf(input), protocolVersion })
}

/** A text, and then what a source gives. */
function after(text: string, source?: SseSource): SseSource {
  let isTold = false
  return {
    cancel: () => source?.cancel(),
    read(take) {
      const goesOn = isTold || take(text)
      isTold = true
      if (!goesOn) return
      if (source === undefined) take(undefined)
      else source.read(take)
    },
  }
}
