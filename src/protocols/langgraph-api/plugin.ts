/**
 * The HTTP interface of LangGraph's server as a plugin: the entry `servable/langgraph-api`.
 *
 * Begin with `start.ts` (a run), then `run-messages.ts` and `frames.ts` (what its client gets) and `thread-tree.ts` (states and checkpoints).
 * May import `core` and what is below it, and no other protocol but `encoders`.
 *
 * @module
 */

import * as v from 'valibot'
import type { Mounted, Plugin, PluginCore, PluginRoute } from '../../core-entry.ts'
import { jsonReply, Reply } from '../../web/reply.ts'
import { checkOptions, joinPath, path as pathSchema } from '../encoders/index.ts'
import { type Api, Asked, NO_STORE } from './asked.ts'
import * as assistants from './assistant-routes.ts'
import { Assistants } from './assistants.ts'
import { THREADS_KEPT } from './kept.ts'
import * as runs from './runs.ts'
import * as states from './states.ts'
import * as threads from './threads.ts'
import { refused } from './unsupported.ts'

/** Options of LangGraph's interface. */
export interface LangGraphOptions {
  /** The path of all routes, whatever the handler's `prefix`. Default: `/langgraph`. */
  readonly path?: string | undefined
}

const NAME = 'langgraph-api'

const OptionsSchema = v.strictObject({ path: v.optional(pathSchema) })

/**
 * Serves agents, teams and workflows to clients of LangGraph's server: its SDK, `useStream`, `RemoteGraph`, and chats that are built on
 * these. Each servable is an assistant, and a thread is a session. Threads need a state, the plugin `sessions()`, and callers with an
 * identity. `x-api-key` has the caller's token there, as `authorization` does. Throws `invalid_options`.
 *
 * @example
 * createHandler({ serve: [helper], plugins: [sessions(), langGraph()] })
 * const client = new Client({ apiUrl: 'http://localhost:3000/langgraph' })
 */
export function langGraph(options: LangGraphOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  return { name: NAME, kept: THREADS_KEPT, mount: core => mount(core, options) }
}

/** Answers a request: with JSON, or with what is an answer already. */
type Endpoint = (asked: Asked) => unknown

function mount(core: PluginCore, { path = '/langgraph' }: LangGraphOptions): Mounted {
  const api: Api = { core, assistants: new Assistants(core.catalog), kept: core.calls(THREADS_KEPT) }
  const routes = ROUTES.map(
    ([method, below, endpoint, scope]): PluginRoute => ({
      ...{ method, path: joinPath(path, below), ...(scope && { scope }) },
      async endpoint(request, context) {
        const answer = await endpoint(new Asked(api, request, context))
        if (answer instanceof Response || answer instanceof Reply) return answer
        return jsonReply(answer, { headers: NO_STORE })
      },
    }),
  )
  return {
    base: { path: joinPath(path), tokenHeader: 'x-api-key' },
    routes,
    describe: build => build.routes(routes, 'LangGraph'),
    async forget({ owner, session }) {
      if (owner === null) return false
      return api.kept.remove(owner, session?.id, session)
    },
  }
}

const ok: Endpoint = () => ({ ok: true })
const info: Endpoint = () => ({
  ...{ version: '1.0.0', context: 'servable' },
  flags: { assistants: true, crons: false, langsmith: false },
})

type RouteRow = readonly [PluginRoute['method'], string, Endpoint, PluginRoute['scope']?]

const ROUTES: readonly RouteRow[] = [
  ['GET', 'ok', ok],
  ['GET', 'info', info],
  ['POST', 'assistants/search', assistants.searchAssistants, 'read'],
  ['POST', 'assistants/count', assistants.countAssistants, 'read'],
  ['GET', 'assistants/:id', assistants.getAssistant],
  ['GET', 'assistants/:id/schemas', assistants.getSchemas],
  ['GET', 'assistants/:id/graph', assistants.getGraph],
  ['GET', 'assistants/:id/subgraphs', assistants.getSubgraphs],
  ['POST', 'threads', threads.createThread],
  ['POST', 'threads/search', threads.searchThreads, 'read'],
  ['POST', 'threads/count', threads.countThreads, 'read'],
  ['GET', 'threads/:thread', threads.getThread],
  ['PATCH', 'threads/:thread', threads.updateThread, 'run'],
  ['DELETE', 'threads/:thread', threads.deleteThread],
  ['POST', 'threads/:thread/copy', threads.copyThread],
  ['GET', 'threads/:thread/state', states.getState],
  ['POST', 'threads/:thread/state', states.updateState],
  ['POST', 'threads/:thread/state/checkpoint', states.postStateAt, 'read'],
  ['GET', 'threads/:thread/state/:checkpoint', states.getStateAt],
  ['POST', 'threads/:thread/history', states.getHistory, 'read'],
  ['POST', 'threads/:thread/runs/stream', runs.streamRun],
  ['POST', 'threads/:thread/runs/wait', runs.waitForRun],
  ['POST', 'threads/:thread/runs', runs.createRun],
  ['GET', 'threads/:thread/runs', runs.listRuns],
  ['GET', 'threads/:thread/runs/:run', runs.getRun],
  ['DELETE', 'threads/:thread/runs/:run', runs.deleteRun],
  ['GET', 'threads/:thread/runs/:run/join', runs.joinRun],
  ['GET', 'threads/:thread/runs/:run/stream', runs.joinStream],
  ['POST', 'threads/:thread/runs/:run/cancel', runs.cancelRun],
  ['POST', 'runs/stream', runs.streamRun],
  ['POST', 'runs/wait', runs.waitForRun],
  ['POST', 'runs/batch', runs.createBatch],
  ['POST', 'runs/cancel', runs.cancelRuns],
  ['POST', 'runs', runs.createRun],
  ['GET', 'runs/:run', runs.getRun],
  ['GET', 'runs/:run/join', runs.joinRun],
  ['GET', 'runs/:run/stream', runs.joinStream],
  ['POST', 'runs/:run/cancel', runs.cancelRun],
  ...refused,
]
