import { expect, it } from 'vitest'
import type { RunHost } from '../../../src/runs/stored/host.ts'
import { begin, eventsIn, type Hosted, isTerminal, listAll, read, unique } from './kit.ts'

/** Waits a few turns, so that a cancel meets the run in every state. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(resolve => setTimeout(resolve, 0))
}

/** Ends and cancels a run at the same time, and gives the views of all observers. */
async function race(host: RunHost, owner: string, { round, slowness }: { round: number; slowness: number }) {
  const { id } = await begin(host, [{ say: 'a' }, { turns: (round % 4) * slowness }, { say: 'b' }], { owner })
  const following = [read(host, id, 0, owner), read(host, id, 1, owner)]
  await turns((round >> 2) % 8)
  const cancelled = await host.cancel(id, owner).then(
    ({ status }) => status,
    (error: { code: string }) => error.code,
  )
  const [all = [], fromOne = []] = await Promise.all(following)
  const { status, finishReason } = await host.get(id, owner)
  return { id, cancelled, all, fromOne, status, finishReason, late: await read(host, id, 0, owner) }
}

/** The number of races, and the factor by which agents must be slower. */
interface RaceSettings {
  readonly count: number
  readonly slowness: number
}

/** Runs the race this many times, a few at once. */
export function raceCases(hosted: Hosted, { count, slowness }: RaceSettings): void {
  it(`has exactly one end, ${count.toLocaleString('en')} times, and all see the same`, async () => {
    const { host } = hosted()
    const owner = unique('racer')
    const races: Awaited<ReturnType<typeof race>>[] = []
    const isOneSided = () => new Set(races.map(({ status }) => status)).size < 2
    for (let round = 0; round < count || (isOneSided() && round < 5 * count); round += 25) {
      // On a busy machine a cancel may always come late: then there are more races, with slower agents.
      const slower = slowness * 2 ** Math.floor(round / count)
      const batch = Array.from({ length: 25 }, (_, i) =>
        race(host, owner, { round: round + i, slowness: slower }),
      )
      races.push(...(await Promise.all(batch)))
    }
    for (const { all, fromOne, late, status, finishReason, cancelled } of races) {
      const events = eventsIn(all)
      expect(events.filter(isTerminal)).toEqual(events.slice(-1))
      expect(events.at(-1)).toEqual({ type: 'finish', finishReason })
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
      expect(fromOne).toEqual(all.slice(1))
      expect(late).toEqual(all)
      expect(status).toBe(finishReason === 'cancelled' ? 'cancelled' : 'completed')
      expect(cancelled).toBe(status === 'cancelled' ? 'cancelled' : 'run_ended')
    }
    const listed = await listAll(host, owner, { limit: 100 })
    const statuses = new Map(listed.map(({ id, status }) => [id, status]))
    expect(statuses).toEqual(new Map(races.map(({ id, status }) => [id, status])))
    expect(new Set(statuses.values())).toEqual(new Set(['cancelled', 'completed']))
  }, 300_000)
}
