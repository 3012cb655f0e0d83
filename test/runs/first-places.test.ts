/** The last places are for clients that have none. */
import { expect, it } from 'vitest'
import { takeSlot } from '../../src/runs/admission.ts'
import { memoryStore } from '../../src/stores/memory.ts'

const RUNNING = 'places'

function places(maxRunning: number, maxRunningPerOwner = 100) {
  const store = memoryStore()
  let count = 0
  /** Takes a place, or gives the code of the refusal. */
  const take = (client: string): string | undefined => {
    try {
      store.write(tx => {
        const place = { id: `run-${count++}`, partition: client, at: count, tags: {}, value: '' }
        takeSlot(tx, RUNNING, place, { maxRunning, maxRunningPerOwner })
      })
      return undefined
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  const all = (client: string, wanted: number) =>
    Array.from({ length: wanted }, () => take(client)).filter(code => code === undefined).length
  return { take, all }
}

it('ten clients that want all 1,000 places leave a hundred for others', () => {
  const { take, all } = places(1000)
  const taken = Array.from({ length: 10 }, (_, at) => all(`greedy ${at}`, 100))
  expect(taken.reduce((sum, one) => sum + one, 0)).toBe(901)
  expect(take('greedy 0')).toBe('too_many_runs')
  for (let at = 0; at < 99; at++) expect(take(`new ${at}`)).toBeUndefined()
  expect(take('late')).toBe('too_many_runs')
})

it.each([1, 2, 5, 9])('one client alone may have all of %i places', most => {
  expect(places(most).all('only', most + 1)).toBe(most)
})
