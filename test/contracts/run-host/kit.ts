import { randomUUID } from 'node:crypto'
import type { RunEvent, RunOptions } from '../../../src/index.ts'
import type {
  Follower,
  IdempotencyKey,
  RunHost,
  RunPage,
  RunQuery,
  Viewer,
} from '../../../src/runs/stored/host.ts'
import type { RunRecord, RunStatus, RunSummary } from '../../../src/runs/stored/record.ts'
import type { StoredLogEntry } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'
import { untimed } from '../../support.ts'
import { type Act, scripted } from './scripted.ts'

/** A host under test, with what its tests need to do from outside. */
export interface TestHost {
  readonly host: RunHost
  openGate(gate: string): Promise<void>
  countOf(name: string): Promise<number>
  wasStopped(runId: string): Promise<boolean>
  /** Kills the process or object of this run, and gives the host that finds it dead. */
  restart(runId: string): Promise<RunHost>
  /** Everything that is stored about these runs. */
  stored(about: { runId: string; owner: Viewer; keyId: string }): Promise<string>
  close(): Promise<void>
}

/** The host of a test. */
export type Hosted = () => TestHost

/** A run to start. By default it has no owner and is in the background. */
export interface Begin {
  readonly owner?: Viewer
  readonly client?: string
  readonly isBackground?: boolean
  readonly key?: IdempotencyKey
  readonly options?: RunOptions
}

export function begin(host: RunHost, acts: readonly Act[], given: Begin = {}): Promise<RunRecord> {
  const { owner = null, client, isBackground = true, key, options = {} } = given
  const target = { kind: 'agent', name: 'scripted', servable: scripted } as const
  return host.start({ target, input: JSON.stringify(acts), options, owner, client, isBackground, key })
}

/** A name that no other test uses. */
export const unique = (what: string): string => `${what}-${randomUUID()}`

export const newKey = (fingerprint = 'same'): IdempotencyKey => ({ id: unique('key'), fingerprint })

/** The record after the run has ended. */
export function ending(host: RunHost, id: string, viewer: Viewer = null): Promise<RunRecord> {
  return host.wait(id, viewer, new AbortController().signal)
}

/** All entries up to the end of the log. */
export async function rest(follower: Follower): Promise<StoredLogEntry[]> {
  const entries: StoredLogEntry[] = []
  for (let batch = await follower.next(); batch; batch = await follower.next()) entries.push(...batch)
  return entries
}

export async function read(
  host: RunHost,
  id: string,
  after = 0,
  viewer: Viewer = null,
): Promise<StoredLogEntry[]> {
  return rest(await host.follow(id, viewer, after))
}

/** The events of a log, without their times. */
export function eventsIn(entries: readonly StoredLogEntry[]): RunEvent[] {
  return entries.map(({ data }) => untimed(JSON.parse(data) as RunEvent))
}

export const isTerminal = ({ type }: RunEvent): boolean => type === 'finish' || type === 'error'

/** All items of a list, page by page. */
export async function listAll(
  host: RunHost,
  owner: Viewer,
  query: Omit<RunQuery, 'cursor'>,
): Promise<RunSummary[]> {
  const runs: RunSummary[] = []
  let cursor: string | undefined
  do {
    const page: RunPage = await host.list(owner, { ...query, cursor })
    runs.push(...page.runs)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return runs
}

/** Waits until the run has this status. */
export function until(host: RunHost, id: string, status: RunStatus, viewer: Viewer = null): Promise<void> {
  return waitFor(async () => (await host.get(id, viewer)).status === status)
}

/** Waits until it is true. The time-out is long, since the machine may be busy. */
export async function waitFor(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => {
    if (!(await isSo())) throw new Error('it is not so yet')
  })
}
