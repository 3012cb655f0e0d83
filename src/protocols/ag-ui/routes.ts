/**
 * `POST /agents/:name/ag-ui` and `GET`, and the same for teams and workflows.
 *
 * @module
 */

import {
  callerOf,
  type FinishEvent,
  type Kind,
  type PluginCore,
  type PluginRoute,
  type StartedRun,
} from '../../core-entry.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { Reply } from '../../web/reply.ts'
import { SSE_HEADERS, sseData } from '../../web/sse.ts'
import { askedRunInSession, idText, joinPath, KINDS, queryOf, validate } from '../encoders/index.ts'
import { answersOf } from './answers.ts'
import { attach } from './attach.ts'
import { AgUiEncoder } from './encoder.ts'
import { finished } from './finish.ts'
import { parseInput } from './input.ts'
import { conversationOf, editedMessages } from './messages.ts'
import { Numbered, numbered, positionIn } from './numbered.ts'

/** The routes of every kind. */
export function agUiRoutes(core: PluginCore): PluginRoute[] {
  return KINDS.flatMap(kind => {
    const path = joinPath(core.prefix, `${kind}s`, ':name', 'ag-ui')
    return [
      { method: 'POST', path, endpoint: answer(kind, core) },
      { method: 'GET', path, endpoint: attached(kind, core) },
    ]
  })
}

function attached(kind: Kind, core: PluginCore): PluginRoute['endpoint'] {
  return (request, context) => {
    const query = queryOf(request.url)
    const id = (name: string) => validate(idText, query.get(name), 'invalid_query', name)
    return attach({
      target: core.catalog.resolve(kind, context.params.name ?? ''),
      caller: callerOf(core, request, context),
      identity: context.identity,
      client: { threadId: id('threadId'), runId: query.has('runId') ? id('runId') : undefined },
      isVersion1: query.has('protocolVersion'),
      known: positionIn(request.headers.get('last-event-id') ?? query.get('after')),
    })
  }
}

/** What the client says of runs of its thread: `forwardedProps.concurrency`. */
function concurrencyIn(props: unknown): 'queue' | 'steer' | undefined {
  const { concurrency } = Object(props) as { readonly concurrency?: unknown }
  return concurrency === 'steer' || concurrency === 'queue' ? concurrency : undefined
}

function answer(kind: Kind, core: PluginCore): PluginRoute['endpoint'] {
  const { catalog, maxBodyBytes } = core
  return async (request, context) => {
    const target = catalog.resolve(kind, context.params.name ?? '')
    requireJson(request)
    const body = await readJson(request, maxBodyBytes)
    const input = parseInput(body)
    const caller = callerOf(core, request, context)
    const { threadId, runId: named, protocolVersion, state, context: agentContext, forwardedProps } = input
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

    const given = await answersOf(input, target, caller.runs)
    let started: StartedRun | undefined
    if (given === undefined) {
      const asked = await askedRunInSession(conversationOf(input), target, caller, context)
      const agui = { runId: named, state, context: agentContext, forwardedProps }
      const concurrency = concurrencyIn(forwardedProps)
      started = await caller.start({ ...asked, metadata: { agui }, readsSteered: true, concurrency })
    } else {
      const { id, answers, edited } = given
      if (answers.length === 0) return end(id, { finishReason: 'cancelled' })
      const outcome = await caller.runs.answer({ id, answers })
      if (edited.size > 0)
        head += sseData({ type: 'MESSAGES_SNAPSHOT', messages: editedMessages(body, edited) })
      started = outcome.started
      if (started === undefined) {
        return end(id, { finishReason: 'input_required', requests: outcome.record.requests })
      }
    }
    const { id: runId, record } = started
    const about = { runId, client, isVersion1, mayResume: record !== undefined, ...given?.known }
    const encoder = new AgUiEncoder(about)
    if (record === undefined) return caller.stream(started, encoder, { head })
    return caller.stream(started, new Numbered(encoder, runId), { head: numbered(head, runId, 0) })
  }
}
