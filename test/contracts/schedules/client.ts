/** Reads schedules and their runs over loopback. */
import { expect } from 'vitest'
import type { ScheduleView } from '../../../src/features/schedules/plugin.ts'
import type { RunRecord } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { expectNothingInternal } from '../http/client.ts'
import { as, list, type Server } from '../runs/client.ts'
import { ADMIN } from './service.ts'

/** Asks a route of schedules as the administrator. */
export async function asAdmin<T = ScheduleView>(
  server: Server,
  path: string,
  method = 'GET',
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: T }> {
  const headers = { authorization: `Bearer ${ADMIN}`, ...more }
  const response = await fetch(`${server().url}/api/schedules${path}`, { method, headers })
  const text = await response.text()
  expectNothingInternal(text.replace(/"[-\d]+T[:.\d]+Z"/g, ''))
  return { status: response.status, body: JSON.parse(text) as T }
}

/** What a run of the agent `ticks` says. */
interface Told {
  readonly name: string
  readonly tick?: string
  readonly input: string
  readonly identity: string
  readonly sessionId?: string
}

/** A run of an owner. What the agent says are times, as well. */
export async function read(server: Server, id: string, owner: string): Promise<RunRecord> {
  return (await fetch(`${server().url}/api/runs/${id}`, { headers: as(owner) })).json()
}

/** What the ended runs of an owner said, the oldest first. */
export async function toldTo(server: Server, owner: string): Promise<Told[]> {
  const { runs } = await list(server, '?limit=100&status=completed', as(owner))
  const records = await Promise.all(runs.map(({ id }) => read(server, id, owner)))
  return records.map(({ result }) => JSON.parse(result?.text ?? '') as Told).toReversed()
}

/** The ticks of the runs of an owner, in milliseconds, the earliest first. */
async function ticksOf(server: Server, owner: string): Promise<number[]> {
  const told = await toldTo(server, owner)
  return told.flatMap(({ tick }) => (tick === undefined ? [] : Date.parse(tick))).toSorted((a, b) => a - b)
}

/** Waits for so many ticks of an owner, and checks that each is one of the schedule, and has one run. */
export async function expectTicks(server: Server, owner: string, count: number): Promise<number[]> {
  const ticks = await eventually(async () => {
    const found = await ticksOf(server, owner)
    expect(found.length).toBeGreaterThanOrEqual(count)
    return found
  })
  expect(new Set(ticks).size).toBe(ticks.length)
  for (const tick of ticks) expect(tick % 1000).toBe(0)
  return ticks
}
