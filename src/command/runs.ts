/**
 * `servable runs`: lists, shows, follows and cancels stored runs.
 *
 * @module
 */

import { type Client, createClient } from '../client/client.ts'
import type { RunListQuery } from '../client/runs.ts'
import { shown, shownLines, shownNumbers } from '../features/logs/shown.ts'
import { FEEDBACK_FILTERS } from '../runs/stored/query.ts'
import { RUN_STATUSES, type RunRecord, type RunSummary } from '../runs/stored/record.ts'
import { type Cell, type Screen, styleOf, table } from './screen.ts'
import { EXIT, numberOf, type Options, serviceOf, targetOf, textOf, timeOf, UsageError } from './service.ts'
import { tail } from './tail.ts'

/** Most runs of one list, and the default. */
const MAX_RUNS = 10_000
const RUNS = 50

/** Most characters of a name, and of a text on one line. */
const MAX_NAME = 40
const MAX_LINE = 500

/** Runs one action and returns the exit code. Throws {@link UsageError} and the errors of the client. */
export async function runsCommand(
  act: string,
  id: string | undefined,
  options: Options,
  screen: Screen,
): Promise<number> {
  const work = ACTS[act]
  if (work === undefined) {
    throw new UsageError(`\`runs ${shown(act, MAX_NAME)}\` is unknown: use ${Object.keys(ACTS).join(', ')}`)
  }
  const client = createClient(await serviceOf(options))
  return work({ client, id, options, screen })
}

/** The arguments of an action. */
interface Invocation {
  readonly client: Client
  readonly id: string | undefined
  readonly options: Options
  readonly screen: Screen
}

const ACTS: Readonly<Record<string, (asked: Invocation) => Promise<number>>> = {
  ls: list,
  show,
  tail: async ({ client, id, options, screen }) => {
    const after = numberOf(options, 'after', 0, Number.MAX_SAFE_INTEGER)
    return tail(client, idOf(id, 'tail'), { after, isJson: options.json === true }, screen)
  },
  cancel,
}

function idOf(id: string | undefined, act: string): string {
  if (id) return id
  throw new UsageError(`Give the id of a run: servable runs ${act} <id>`)
}

async function list({ client, id, options, screen }: Invocation): Promise<number> {
  if (id !== undefined) throw new UsageError('`runs ls` takes no id: use `runs show`')
  const limit = numberOf(options, 'limit', 1, MAX_RUNS) ?? RUNS
  const found: RunSummary[] = []
  let count = 0
  for await (const run of client.runs.all(queryOf(options, limit))) {
    if (++count > limit) break
    if (options.json === true) await screen.json(run)
    else found.push(run)
    screen.progress(`${count} runs …`)
  }
  if (options.json === true) return EXIT.ok
  if (found.length === 0) screen.note('There are no such runs')
  else await printTable(found, screen)
  if (count > limit) screen.note(`There are more: --limit ${limit} was reached`)
  return EXIT.ok
}

function queryOf(options: Options, limit: number): RunListQuery {
  const status = oneOf(options, 'status', RUN_STATUSES)
  const feedback = oneOf(options, 'feedback', FEEDBACK_FILTERS)
  const isWaiting = options.waiting === true
  const sessionId = textOf(options, 'session')
  const since = timeOf(options, 'since')
  const until = timeOf(options, 'until')
  const search = textOf(options, 'search')
  return {
    ...targetOf(options),
    ...(status !== undefined && { status }),
    ...(feedback !== undefined && { feedback }),
    ...(isWaiting && { waiting: true }),
    ...(sessionId !== undefined && { sessionId }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(search !== undefined && { search }),
    // One more run shows whether there are more.
    limit: Math.min(limit + 1, 100),
  }
}

/** An option that has one of some values. */
function oneOf<T extends string>(options: Options, name: string, all: readonly T[]): T | undefined {
  const text = textOf(options, name)
  const found = all.find(each => each === text)
  if (text !== undefined && found === undefined)
    throw new UsageError(`--${name} must be one of ${all.join(', ')}`)
  return found
}

/** The status stays `input_required` after the answers have arrived. */
function isAnswered({ status, continuedBy, resumable }: Partial<RunSummary>): boolean {
  return status === 'input_required' && (continuedBy !== undefined || resumable === true)
}

/** The most characters of a title in the table. */
const MAX_TITLE = 40

const HEAD: readonly Cell[] = ['ID', 'STATUS', 'WHAT', 'STARTED', 'NUMBERS', 'TITLE'].map(name => [
  name,
  'bold',
])

async function printTable(runs: readonly RunSummary[], { paint, line }: Screen): Promise<void> {
  const rows = runs.map(
    ({ id, status, kind, name, createdAt, continuedBy, resumable, title = '', ...numbers }): Cell[] => [
      shown(id, MAX_NAME),
      [
        isAnswered({ status, continuedBy, resumable }) ? 'answered' : shown(status, MAX_NAME),
        styleOf(status),
      ],
      shown(`${kind} ${name}`, MAX_NAME),
      shown(createdAt, MAX_NAME),
      shownNumbers(numbers),
      shown(title, MAX_TITLE),
    ],
  )
  for (const text of table([HEAD, ...rows], paint)) await line(text)
}

async function show({ client, id, options, screen }: Invocation): Promise<number> {
  const record = await client.runs.get(idOf(id, 'show'))
  if (options.json === true) await screen.json(record)
  else await printRecord(record, screen)
  return EXIT.ok
}

async function printRecord(record: RunRecord, { paint, line }: Screen): Promise<void> {
  const { id, status, kind, name, result, error, requests } = record
  await line(`${paint('bold', shown(id))}  ${paint(styleOf(status), shown(status))}`)
  const facts: Readonly<Record<string, string | undefined>> = {
    [kind]: name,
    started: record.createdAt,
    updated: record.updatedAt,
    numbers: shownNumbers(record) || undefined,
    model: record.model,
    transport: record.transport,
    session: record.sessionId,
    user: record.userId,
    task: record.taskId,
    title: record.title,
    'continues run': record.continuedFrom,
    'goes on as': record.continuedBy,
    resumable: record.resumable && `yes, by POST /runs/${id}/resume`,
    error: error && `${error.code}: ${error.message}`,
  }
  const given = Object.entries(facts).filter(([, value]) => value !== undefined)
  for (const [fact, value = ''] of given) {
    await line(`  ${paint('dim', shown(fact, MAX_NAME).padEnd(13))}  ${shown(value, MAX_LINE)}`)
  }
  for (const { id: request, kind: what, message, toolName } of requests ?? []) {
    await line(
      `  ${paint('yellow', 'waits for'.padEnd(13))}  ${shown([what, request, toolName, message].filter(Boolean).join('  '), MAX_LINE)}`,
    )
  }
  if (result?.text) await line(`\n${shownLines(result.text)}`)
}

async function cancel({ client, id, options, screen }: Invocation): Promise<number> {
  const record = await client.runs.cancel(idOf(id, 'cancel'))
  if (options.json === true) await screen.json(record)
  else await screen.line(`${shown(record.id)}  ${shown(record.status)}`)
  return EXIT.ok
}
