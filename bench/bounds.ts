/** What a store holds at most, by the defaults that the code has. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** A bound of what is stored. */
export interface Bound {
  readonly of: string
  /** The option that sets it. Absent if none does. */
  readonly option?: string
  /** What is counted, if it is not what `of` names. */
  readonly unit?: 'bytes' | 'characters'
  /** What happens to what comes beyond it. */
  readonly beyond: string
  /** The file of `src` that has the default, and what stands before the number there: the name of the option, if not given. */
  readonly at: readonly [file: string, name?: string]
}

const FULL = '429, `too_many_runs`'
const TOO_LARGE = 'the run fails with `run_too_large`'
const OLDEST = 'the oldest are deleted'
const RUNS = 'core/run-options.ts'
const CORE = 'core/options.ts'
const A2A = 'protocols/a2a/options.ts'

/** The bounds, in the order of the page. */
export const BOUNDS: readonly Bound[] = [
  {
    of: 'runs and tasks at work; on Workers of one owner',
    option: 'runs.maxRunning',
    beyond: FULL,
    at: [RUNS],
  },
  {
    of: 'runs and tasks at work of one client',
    option: 'runs.maxRunningPerOwner',
    beyond: FULL,
    at: [RUNS],
  },
  { of: 'runs in the queue', option: 'queue.maxQueued', beyond: FULL, at: ['features/queue/plugin.ts'] },
  {
    of: 'runs in the queue of one client, of each priority',
    option: 'queue.maxQueuedPerOwner',
    beyond: FULL,
    at: ['features/queue/plugin.ts'],
  },
  {
    of: 'ended runs, in memory',
    option: 'memoryState.maxRuns',
    beyond: OLDEST,
    at: ['runs/stored/local-state.ts'],
  },
  {
    of: 'everything, in memory',
    option: 'memoryState.maxBytes',
    unit: 'bytes',
    beyond: 'what has ended is deleted, the oldest first; then 429, `state_full`',
    at: ['runs/stored/local-state.ts', 'MAX_BYTES'],
  },
  {
    of: 'everything, in memory on Workers',
    option: 'memoryState.maxBytes',
    unit: 'bytes',
    beyond: 'the same',
    at: ['runs/stored/local-state.ts', 'MAX_CONFINED_BYTES'],
  },
  { of: 'events of a run', option: 'runs.maxEvents', beyond: TOO_LARGE, at: [RUNS] },
  { of: 'events of a run', option: 'runs.maxBytes', unit: 'bytes', beyond: TOO_LARGE, at: [RUNS] },
  {
    of: 'plain runs of one client that wait for approvals or answers',
    option: 'runs.maxWaitingPerOwner',
    beyond: 'the run fails with `too_many_runs`',
    at: [RUNS],
  },
  {
    of: 'approvals and questions of one run that wait',
    beyond: 'the run fails',
    at: ['agents/event.ts', 'MAX_REQUESTS'],
  },
  {
    of: 'recorded work of a run: steps and calls',
    beyond: TOO_LARGE,
    at: ['agents/work/work.ts', 'MAX_WORK'],
  },
  {
    of: 'recorded work of a run that waits',
    unit: 'characters',
    beyond: TOO_LARGE,
    at: ['agents/work/work.ts', 'MAX_WORK_LENGTH'],
  },
  {
    of: 'sessions of one owner, but on Workers',
    option: 'runs.maxSessions',
    beyond: 'the one used least recently is deleted',
    at: [RUNS],
  },
  { of: 'turns of a session', option: 'sessions.maxTurns', beyond: OLDEST, at: [CORE] },
  {
    of: 'turns of a session',
    option: 'sessions.maxLength',
    unit: 'characters',
    beyond: OLDEST,
    at: [CORE, 'SESSION_DEFAULTS[^}]*maxLength'],
  },
  {
    of: 'messages of a session that a model is told',
    option: 'runs.maxSessionMessages',
    beyond: 'the oldest turns are not told',
    at: [RUNS],
  },
  {
    of: 'members of a team that remember a session',
    beyond: 'the oldest memory is deleted',
    at: ['runs/sessions/session-memory.ts', 'MAX_MEMBERS'],
  },
  {
    of: 'runs that wait for their session',
    beyond: '409, `session_busy`',
    at: ['runs/sessions/session-steering.ts', 'MAX_WAITING'],
  },
  {
    of: 'a file',
    option: 'files.maxFileBytes',
    unit: 'bytes',
    beyond: TOO_LARGE,
    at: ['features/files/plugin.ts'],
  },
  {
    of: 'files of one owner',
    option: 'files.maxBytesPerOwner',
    unit: 'bytes',
    beyond: 'the run fails with `state_full`',
    at: ['features/files/plugin.ts'],
  },
  {
    of: 'A2A tasks of one owner',
    option: 'a2a.maxTasksPerOwner',
    beyond: 'the oldest ended one is deleted',
    at: [A2A],
  },
  { of: 'messages of a task', option: 'a2a.maxHistory', beyond: 'the task takes no more', at: [A2A] },
  {
    of: 'a task',
    unit: 'bytes',
    beyond: 'the task takes no more messages',
    at: ['protocols/a2a/tasks/task-record.ts', 'MAX_TASK_BYTES'],
  },
  {
    of: 'push receivers of a task',
    beyond: 'one more is refused',
    at: ['protocols/a2a/push/push.ts', 'MAX_RECEIVERS'],
  },
  {
    of: 'runs of one kept response that go on from each other',
    beyond: 'earlier ones are not told',
    at: ['protocols/openai/responses/kept.ts', 'MAX_CHAIN'],
  },
  {
    of: 'keys of callers',
    option: 'callerKeys.maxKeys',
    beyond: '409, `too_many_caller_keys`',
    at: ['features/keys/plugin.ts'],
  },
  {
    of: 'webhooks of one owner',
    option: 'webhooks.clients.maxPerOwner',
    beyond: '409, `too_many_webhooks`',
    at: ['features/webhooks/options.ts'],
  },
  {
    of: 'deliveries of one webhook',
    option: 'webhooks.maxDeliveries',
    beyond: 'the oldest are deleted, also ones that wait',
    at: ['features/webhooks/options.ts'],
  },
  {
    of: 'runs for which a window of a budget holds a reserve',
    beyond: FULL,
    at: ['features/budgets/transactions.ts', 'MAX_HOLDS'],
  },
  {
    of: 'corrections of one owner',
    beyond: 'the oldest is deleted',
    at: ['http/corrections.ts', 'MAX_CORRECTIONS'],
  },
  {
    of: 'a correction',
    unit: 'bytes',
    beyond: 'it is refused',
    at: ['http/corrections.ts', 'MAX_CORRECTION_BYTES'],
  },
  {
    of: 'a text of feedback',
    unit: 'characters',
    beyond: 'it is refused',
    at: ['features/sessions/feedback.ts', 'MAX_TEXT'],
  },
  {
    of: 'runs that a socket that may come back has missed',
    beyond: 'the client gets a new socket',
    at: ['protocols/event-socket/gateway/records.ts', 'MAX_RUNS'],
  },
  {
    of: 'tool servers',
    option: 'ToolServerManager.maxServers',
    beyond: '409, `too_many_tool_servers`',
    at: ['adapters/mcp-client/manager.ts'],
  },
  {
    of: 'names with metrics of their own',
    option: 'metricsExporter.maxNames',
    beyond: 'others count as `other`',
    at: ['features/metrics/exporter.ts'],
  },
  {
    of: 'tools of a name with metrics of their own',
    beyond: 'others count as `other`',
    at: ['features/metrics/stats.ts', 'MAX_TOOLS'],
  },
]

/** The default of a bound. Throws if the code has none where it was. */
export function defaultOf({ of, option, at: [file, name = option?.split('.').at(-1)] }: Bound): number {
  const source = readFileSync(`${root}src/${file}`, 'utf8')
  const number = new RegExp(`\\b${name}(?:: number)?(?: =|:| \\?\\?) (\\d[\\d_]*(?: \\*\\*? \\d[\\d_]*)*)`)
  const [, text] = number.exec(source) ?? []
  if (text === undefined) throw new Error(`src/${file} has no default of \`${name}\`, the bound of ${of}`)
  return text
    .split(' * ')
    .map(factor => factor.split(' ** ').map(part => Number(part.replaceAll('_', ''))))
    .reduce((product, [base = 1, power = 1]) => product * base ** power, 1)
}
