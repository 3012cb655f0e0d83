/**
 * Tasks (the extension `io.modelcontextprotocol/tasks` of 2026, SEP-2663): calls that outlive their connection. A task is a stored
 * run under another name, or several that go on from each other.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, count, duration } from '../../base/schemas.ts'
import { isObject } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import { ignoring } from '../../http/runs/ignoring.ts'
import { StartedRun } from '../../http/runs/start-run.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import { formsOf, givenTo, showsForms } from './asking.ts'
import { lastOf } from './chain.ts'
import { endOf } from './end.ts'
import { checkHeader, own } from './era.ts'
import type { Offered } from './offer.ts'
import { Reading } from './reading.ts'
import type { CallParts, McpRequest, McpTasks } from './request.ts'
import { INVALID_PARAMS, MISSING_CAPABILITY, RpcError } from './rpc.ts'

/** How calls become tasks. */
export interface McpTasksOptions {
  /** Milliseconds after which a call becomes a task, where its client takes tasks. Default: 1,000. */
  readonly afterMs?: number | undefined
  /** Milliseconds that a client is told to wait between two looks at a task. Default: 1,000. */
  readonly pollIntervalMs?: number | undefined
}

const OptionsSchema = v.strictObject({ afterMs: v.optional(duration), pollIntervalMs: v.optional(count) })

const EXTENSION = own('tasks')

/** Where a task is kept, and whose it is. */
type Kept = Parameters<McpTasks['created']>[1]

/** Lets calls that take long become tasks. Throws `invalid_options`. */
export function mcpTasks(options: McpTasksOptions = {}): McpTasks {
  checkOptions('mcpTasks', OptionsSchema, options)
  const { afterMs = 1000, pollIntervalMs = 1000 } = options
  const factsOf = (first: RunRecord, last: RunRecord, { core: { runs }, owner }: Kept) => ({
    taskId: first.id,
    createdAt: first.createdAt,
    lastUpdatedAt: last.updatedAt,
    ttlMs: runs.retentionOf?.({ kind: first.kind, name: first.name, owner }) ?? runs.retentionMs,
    pollIntervalMs,
  })
  return {
    afterMs,
    extensions: { [EXTENSION]: {} },
    takes(rpc, { taskSupport }, core) {
      const why = core.whyUnstored(rpc.state)
      if (taskSupport === 'required') {
        checkDeclared(rpc)
        if (why !== undefined) throw new ServableError('runs_not_stored', why)
      }
      return taskSupport !== 'forbidden' && why === undefined && isDeclared(rpc)
    },
    created: (record, kept) => ({ resultType: 'task', status: 'working', ...factsOf(record, record, kept) }),
    methods: {
      async 'tasks/get'(rpc, parts) {
        const task = await find(rpc, parts)
        return {
          ...factsOf(task.first, task.last, { core: parts.core, owner: rpc.state.owner }),
          ...(await standingOf(task, rpc, parts)),
        }
      },
      async 'tasks/update'(rpc, parts) {
        const { last } = await find(rpc, parts)
        const { core } = parts
        const { answers, isRefused } = givenTo(last.requests ?? [], rpc.params.inputResponses)
        if (isRefused) await cancel(last.id, rpc, core)
        else if (answers.length > 0) {
          const asker = new RequestAsker(rpc.request, rpc.state, core.readKeys)
          await core.answer({ id: last.id, answers, isBackground: true }, asker)
        }
        return {}
      },
      async 'tasks/cancel'(rpc, parts) {
        const { last } = await find(rpc, parts)
        await cancel(last.id, rpc, parts.core)
        return {}
      },
    },
  }
}

function isDeclared({ capabilities }: McpRequest): boolean {
  return isObject(Object(capabilities?.extensions)[EXTENSION])
}

function checkDeclared(rpc: McpRequest): void {
  if (isDeclared(rpc)) return
  throw new RpcError(MISSING_CAPABILITY, `The client must declare the extension \`${EXTENSION}\``, 400, {
    requiredCapabilities: { extensions: { [EXTENSION]: {} } },
  })
}

/** A task: its first run and its last one, and the tool that was called. */
interface Task {
  readonly first: RunRecord
  readonly last: RunRecord
  readonly tool: Offered
}

/** Finds a task. Throws an {@link RpcError}, also for a run of what is not offered. */
async function find(rpc: McpRequest, { core: { host }, offer }: CallParts): Promise<Task> {
  const { params, request, state } = rpc
  const { taskId } = params
  checkDeclared(rpc)
  checkHeader(request.headers, 'Mcp-Name', taskId)
  const first = await host.get(String(taskId), state.owner).catch(ignoring('run_not_found'))
  const isOf = ({ target: { kind, name } }: Offered) => kind === first?.kind && name === first.name
  const tool = (await offer.list()).find(isOf)
  if (!first || !tool) throw new RpcError(INVALID_PARAMS, 'There is no such task', 200)
  state.runId = first.id
  return { first, last: await lastOf(host, first, state.owner), tool }
}

/** Cancels a run, or the one that has gone on from it meanwhile. */
async function cancel(
  id: string,
  { state }: McpRequest,
  { host, runs }: Pick<Core, 'host' | 'runs'>,
): Promise<void> {
  await checkPermitOf(runs.permit, state, () => host.get(id, state.owner))
  const cancelled = await host.cancel(id, state.owner).catch(ignoring('run_ended'))
  if (cancelled) return
  const last = await lastOf(host, await host.get(id, state.owner), state.owner)
  if (last.id !== id) await host.cancel(last.id, state.owner).catch(ignoring('run_ended'))
}

/** How a task stands. */
async function standingOf(
  { last, tool }: Task,
  { request, state, capabilities = {} }: McpRequest,
  { core }: CallParts,
): Promise<object> {
  const { status, requests = [], result } = last
  if (status === 'cancelled') return { status }
  if (status === 'input_required' && requests.length > 0)
    return { status, inputRequests: showsForms(capabilities) ? formsOf(requests, result?.text) : {} }
  // Once all is answered, another run goes on.
  if (status === 'queued' || status === 'running' || status === 'input_required') return { status: 'working' }
  const { done } = new Reading(new StartedRun(undefined, last, core.host, state.owner), {
    goOn: async () => undefined,
    maxLength: core.runs.maxLength,
    tellsMoves: false,
  })
  try {
    const result = { resultType: 'complete', ...endOf(await done, { request, tool }, core) }
    return { status: 'completed', result }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { code, message, data } = error
    return { status: 'failed', error: { code, message, data } }
  }
}
