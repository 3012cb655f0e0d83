/** Messages that move from the line of a session into the turn at work. */
import { describe, expect, it } from 'vitest'
import { runAtWork, steersFor, takeSteers } from '../../../src/runs/sessions/session-steering.ts'
import { leaveSession } from '../../../src/runs/sessions/session-turns.ts'
import { key, session, settings, turn } from './session-kit.ts'

function steering() {
  const one = session()
  const { store } = one
  return {
    ...one,
    steer: (runId: string) => one.enter(runId, false, { steers: true }),
    steers: (runId: string) => store.read(tx => steersFor(tx, key, runId)),
    take: (runId: string, told: readonly string[] = []) =>
      (store.write(tx => takeSteers(tx, key, runId, told, settings)) as readonly { runId: string }[]).map(
        each => each.runId,
      ),
    end: (runId: string, told: readonly string[]) =>
      store.write(tx => leaveSession(tx, key, { ...turn(runId), status: 'cut', told }, undefined, settings)),
    atWork: () => store.read(tx => runAtWork(tx, key)),
  }
}

describe('a message in line', () => {
  it('goes to the run that has the session, before runs that wait, and to no other', () => {
    const { enter, steer, steers, take, turns } = steering()
    enter('a')
    enter('queued')
    steer('x')
    steer('y')
    expect(steers('queued')).toEqual([])
    expect(take('queued')).toEqual([])
    expect(take('a')).toEqual(['x', 'y'])
    expect(take('a')).toEqual(['x', 'y'])
    expect(turns()[0]?.steered?.map(({ input }) => input)).toEqual(['x', 'y'])
  })

  it('has its run end only once readers know, or the run that took it is gone', () => {
    const { enter, steer, take, end } = steering()
    enter('a')
    steer('x')
    take('a')
    expect(steer('x')).toMatchObject({ place: 1 })
    expect(steer('x')).not.toHaveProperty('into')
    take('a', ['x'])
    expect(steer('x')).toMatchObject({ into: 'a' })
    end('a', ['x'])
    expect(steer('x')).toMatchObject({ into: 'a' })
  })

  it('goes back to the beginning of the line if its taker ends before readers know', () => {
    const { enter, steer, take, end, turns, leave } = steering()
    enter('a')
    enter('queued')
    steer('x')
    steer('y')
    take('a')
    end('a', ['x'])
    expect(turns()[0]?.steered?.map(({ runId }) => runId)).toEqual(['x'])
    expect(steer('x')).toMatchObject({ into: 'a' })
    expect(steer('y')).toMatchObject({ place: 0 })
    expect(enter('queued')).toMatchObject({ place: 1 })
    leave('y')
    expect(enter('queued')).toMatchObject({ place: 0 })
  })

  it('is one of eight, whatever was taken before', () => {
    const { enter, steer, take, atWork } = steering()
    enter('a')
    for (let round = 0; round < 20; round++) {
      for (let count = 0; count < 8; count++) steer(`${round}-${count}`)
      expect(atWork).toThrow('at work')
      expect(() => steer('more')).toThrow('at work')
      if (8 * (round + 1) > 100) break
      expect(take('a')).toHaveLength(8 * (round + 1))
    }
    // A turn has a hundred at the most. The others are the next runs.
    expect(take('a')).toHaveLength(100)
  })
})
