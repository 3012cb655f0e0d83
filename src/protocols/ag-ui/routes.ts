/**
 * `POST /agents/:name/ag-ui`, and the same for teams and workflows.
 *
 * @module
 */

import type { FinishEvent, Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Core } from '../../core/built-in.ts'
import type { Endpoint, Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import type { StartedRun } from '../../http/runs/start-run.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { Reply, sseReply } from '../../web/reply.ts'
import { counted, SSE_HEADERS, sseData } from '../../web/sse.ts'
import { askedRunInSession } from '../encoders/edits.ts'
import { after, encoded } from '../encoders/encoder.ts'
import { answersOf } from './answers.ts'
import { AgUiEncoder } from './encoder.ts'
import { finished } from './finish.ts'
import { parseInput } from './input.ts'
import { conversationOf, editedMessages } from './messages.ts'

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
    const body = await readJson(request, maxBodyBytes)
    const input = parseInput(body)
    const asker = new RequestAsker(request, state, readKeys)
    const { threadId, runId: named, protocolVersion, state: clientState, context, forwardedProps } = input
    const client = { threadId, runId: named }
    const isVersion1 = protocolVersion !== undefined
    let head = sseData({
      type: 'RUN_STARTED',
      ...client,
      protocolVersion: protocolVersion && '1.0',
    })
    const end = (id: string, event: Omit<FinishEvent, 'type'>) => {
      const text = head + sseData(finished({ type: 'finish', ...event }, { client, isVersion1 }))
      return new Reply(text, { headers: { ...SSE_HEADERS, 'x-run-id': id } })
    }

    const given = await answersOf(input, target, host, state.owner)
    let started: StartedRun | undefined
    if (given === undefined) {
      const asked = await askedRunInSession(conversationOf(input), target, core, state)
      const agui = { runId: named, state: clientState, context, forwardedProps }
      started = await core.start({ ...asked, metadata: { agui } }, asker)
    } else {
      const { id, answers, edited } = given
      if (answers.length === 0) return end(id, { finishReason: 'cancelled' })
      const outcome = await core.answer({ id, answers }, asker)
      if (edited.size > 0)
        head += sseData({ type: 'MESSAGES_SNAPSHOT', messages: editedMessages(body, edited) })
      started = outcome.started
      if (started === undefined) {
        return end(id, { finishReason: 'input_required', requests: outcome.record.requests })
      }
    }
    const { id: runId, run } = started
    state.started(runId)
    run?.arm()
    const about = { runId, client, isVersion1, mayResume: run === undefined, ...given?.known }
    const source = await encoded(started, new AgUiEncoder(about), core, request, state)
    return sseReply(counted(after(head, source), openStream), { 'x-run-id': runId })
  }
}
