import { expect, it } from 'vitest'
import {
  cancel,
  getTask,
  isTerminal,
  noted,
  notesOf,
  type Server,
  sendForTask,
  subscribe,
  TONGUES,
} from './client.ts'

const tongue = TONGUES.rpc1

/** Races at a time: a busy machine answers all of them before the state counts as lost. */
const AT_ONCE = 10

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setTimeout(resolve, 0))
}

/**
 * Ends and cancels a task at the same time, and gives the views of all observers. Its agent takes 1 to 128 turns, so that on
 * every machine some cancels come before its end and some after.
 */
async function race(server: Server, round: number) {
  const { id } = await sendForTask(server, tongue, {
    agent: 'soon',
    text: String(2 ** (round % 8)),
    wait: false,
  })
  await turns((round >> 3) % 5)
  const cancelled = await cancel(server, tongue, id)
  const after = await getTask(server, tongue, id)
  const stream = await subscribe(server, tongue, id, { lastEventId: '0' })
  const states = (await stream.rest()).flatMap(({ state }) => state ?? [])
  const late = await getTask(server, tongue, id)
  return { id, cancelled, after, late, states }
}

/** Runs the race this many times, a few at once. */
export function racingCases(server: Server, count: number): void {
  it(`a task that is cancelled as it ends has exactly one end, ${count} times`, async () => {
    const races: Awaited<ReturnType<typeof race>>[] = []
    for (let round = 0; round < count; round += AT_ONCE) {
      races.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => race(server, round + i)))))
    }
    for (const { cancelled, after, late, states } of races) {
      expect(['canceled', 'completed']).toContain(after.state)
      expect(late).toEqual(after)
      expect(states.filter(isTerminal)).toEqual([after.state])
      expect(states.at(-1)).toBe(after.state)
      if (after.state === 'canceled') expect(cancelled.task).toEqual(after)
      else expect(cancelled.error?.code).toBe(-32002)
    }
    const ends = new Set(races.map(({ after }) => after.state))
    expect(ends).toContain('canceled')
    for (const { id, after } of races) if (after.state === 'canceled') await noted(server, `${id} aborted`)
    expect(new Set(await notesOf(server)).size).toBeGreaterThan(0)
  }, 180_000)
}
