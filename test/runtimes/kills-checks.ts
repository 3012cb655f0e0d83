/** What must hold of workflows whose servers were killed. */
import type { RunEvent, RunRecord } from '../../src/index.ts'
import { messagesOf } from '../contracts/http/client.ts'
import type { Effect } from './entries/kills-workflow.ts'

/** A run that has ended, with what its log tells. */
export interface Ended {
  readonly record: RunRecord
  readonly events: readonly RunEvent[]
}

/** Follows a run to its end. */
export async function ending(url: string, id: string): Promise<Ended> {
  const events: RunEvent[] = []
  for await (const { event } of messagesOf(await fetch(`${url}/api/runs/${id}/stream`)))
    events.push(event as RunEvent)
  const record = (await (await fetch(`${url}/api/runs/${id}`)).json()) as RunRecord
  return { record, events }
}

/** What a run said in the end: what it goes on from is told again. */
function textOf(events: readonly RunEvent[]): string {
  const since = events.findLastIndex(({ type }) => type === 'resumed')
  return events
    .slice(since + 1)
    .map(event => (event.type === 'text' ? event.text : ''))
    .join('')
}

/** The run has ended well, and said what its effects say. */
export function wrongWith({ record, events }: Ended, all: readonly Effect[]): string[] {
  const { id, status, result } = record
  const ofRun = all.filter(({ key }) => key.startsWith(`${id}/`))
  // What was recorded came of the last one.
  const lastOf = (name: string) => ofRun.findLast(effect => effect.name === name)?.value ?? Number.NaN
  const drawn = lastOf('draw')
  const [branch, inside] = drawn % 2 === 0 ? ['even', 'check'] : ['odd', 'weigh']
  const values = [
    ...[drawn, lastOf('left'), lastOf('first') + lastOf('second')],
    ...[lastOf('right'), lastOf('last')],
  ]
  const text = `: read ${branch} ${inside} again again last ${JSON.stringify(values)}`
  const names = new Map(ofRun.map(({ key, name }) => [key, name]))
  const done = [...names.values()].toSorted().join()
  const steps = ['read', 'draw', 'left', 'first', 'second', 'right', branch, inside, 'again', 'again', 'last']
  const ends = events.filter(({ type }) => type === 'finish' || type === 'error')
  const checks: readonly (readonly [unknown, unknown])[] = [
    [status, 'completed'],
    [result?.text.slice(8), text],
    [textOf(events).slice(8), text],
    [ends.map(({ type }) => type).join(), 'finish'],
    [done, steps.toSorted().join()],
  ]
  return checks.flatMap(([is, must]) =>
    is === must ? [] : [`${id}: ${is} instead of ${must} ${JSON.stringify(record.error ?? '')}`],
  )
}

/** Steps that are done at once. Those of one lane come one after the other. */
const LANES = [['left'], ['first', 'second'], ['right']]

/** Of a run that is cut off, work is under way at one place at most: the effects that no record tells of. */
export function wrongAtOnce(id: string, unrecorded: readonly Effect[]): string[] {
  const names = [...new Map(unrecorded.map(({ key, name }) => [key, name])).values()]
  const inLanes = LANES.flatMap(lane => names.filter(name => lane.includes(name)).slice(0, 1))
  return names.length <= 1 || inLanes.length === names.length ? [] : [`${id}: no record of ${names.join()}`]
}

/** A run is one process's until that is killed, and it does nothing twice. `killed` tells when each one was. */
export function wrongOwners(
  id: string,
  all: readonly Effect[],
  killed: ReadonlyMap<number, number>,
): string[] {
  const ofRun = all.filter(({ key }) => key.startsWith(`${id}/`))
  const done = new Set<string>()
  return ofRun.flatMap(({ key, generation, at }, index) => {
    const before = ofRun[index - 1]?.generation ?? generation
    const wasThere = done.has(`${generation} ${key}`)
    done.add(`${generation} ${key}`)
    if (wasThere) return [`${key}: twice in process ${generation}`]
    const isNext = before === generation || (killed.get(before) ?? at + 1) <= at
    return isNext ? [] : [`${key}: in process ${generation} while ${before} was there`]
  })
}
