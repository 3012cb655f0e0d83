/**
 * Tasks (the extension `io.modelcontextprotocol/tasks` of 2026, SEP-2663): calls that outlive their connection. A task is a
 * stored run under another name, or several runs that continue each other.
 *
 * @module
 */

import * as v from 'valibot'
import { ignoring, ServableError } from '../../base/errors.ts'
import { checkOptions, count, duration } from '../../base/schemas.ts'
import { isObject } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import { StartedRun } from '../../http/runs/start-run.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import { answersTo, asksAll, formsOf } from './asking.ts'
import { endOf } from './content.ts'
import { checkHeader, own } from './era.ts'
import type { Offered } from './offer.ts'
import type { CallContext, McpRequest, McpTasks } from './request.ts'
import { INVALID_PARAMS, MISSING_CAPABILITY, RpcError } from './rpc.ts'
import { lastOf, RunReader } from './run-reader.ts'

/** Options of tasks. */
export interface McpTasksOptions {
  /** Milliseconds after which a call becomes a task, if its client supports tasks. Default: 1,000. */
  readonly afterMs?: number | undefined
  /** Milliseconds that clients should wait between two polls of a task. Default: 1,000. */
  readonly pollIntervalMs?: number | undefined
}

const OptionsSchema = v.strictObject({ afterMs: v.optional(duration), pollIntervalMs: v.optional(count) })

const EXTENSION = own('tasks')

/** The storage and the owner of a task. */
type TaskContext = Parameters<McpTasks['created']>[1]

/** Lets calls that take long become tasks. Throws `invalid_options`. */
export function mcpTasks(options: McpTasksOptions = {}): McpTasks {
  checkOptions('mcpTasks', OptionsSchema, options)
  const { afterMs = 1000, pollIntervalMs = 1000 } = options
  const factsOf = (first: RunRecord, last: RunRecord, { core: { runs }, owner }: TaskContext) => ({
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
          ...(await statusOf(task, rpc, parts)),
        }
      },
      async 'tasks/update'(rpc, parts) {
        const { last } = await find(rpc, parts)
        const { core } = parts
        const { answers, isRefused } = answersTo(last.requests ?? [], rpc.params.inputResponses)
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
interface McpTask {
  readonly first: RunRecord
  readonly last: RunRecord
  readonly tool: Offered
}

/** Finds a task. Throws an {@link RpcError}, also for a run of a servable that is not on offer. */
async function find(rpc: McpRequest, { core: { host }, offer }: CallContext): Promise<McpTask> {
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

/** Cancels a run, or the run that has continued it meanwhile. */
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

/** The status of a task, with its requests, result or error. */
async function statusOf(
  { last, tool }: McpTask,
  rpc: McpRequest,
  { core, offers }: CallContext,
): Promise<object> {
  const { state, capabilities = {} } = rpc
  const { status, requests = [], result } = last
  if (status === 'cancelled') return { status }
  if (status === 'input_required' && requests.length > 0)
    return { status, inputRequests: asksAll(capabilities, requests) ? formsOf(requests, result?.text) : {} }
  // Once all requests are answered, another run continues the task.
  if (status === 'queued' || status === 'running' || status === 'input_required') return { status: 'working' }
  const { done } = new RunReader(new StartedRun(undefined, last, core.host, state.owner), {
    continueRun: async () => undefined,
    maxLength: core.runs.maxLength,
    tracksChanges: false,
  })
  try {
    const result = { resultType: 'complete', ...(await endOf(await done, { ...rpc, tool }, offers)) }
    return { status: 'completed', result }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { code, message, data } = error
    return { status: 'failed', error: { code, message, data } }
  }
}
