/** A store that writes, and whose answer is lost on its way. */
import { describe, expect, it } from 'vitest'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { unavailable } from '../../src/stores/remote/retrying.ts'
import type { Store } from '../../src/stores/store.ts'
import { begin, ending, eventsIn, read, unique, waitFor } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { openGate, wasStopped } from '../contracts/run-host/scripted.ts'

/** Loses the answers of so many writes from now on. */
function losing() {
  const inner = memoryStore()
  let left = 0
  const store: Store = {
    instance: inner.instance,
    isShared: false,
    isAlive: name => inner.isAlive(name),
    read: async work => inner.read(work),
    async write(work) {
      const value = inner.write(work)
      if (left > 0) {
        left--
        throw unavailable(new Error('the answer was lost'))
      }
      return value
    },
    close() {},
  }
  const host = createLocalHost({ store, settings: SETTINGS, retention: {} })
  const lose = (count: number) => {
    left = count
  }
  return { host, lose, hasLost: () => left === 0 }
}

describe('an answer of the store that is lost', () => {
  it('leaves each event once', async () => {
    const { host, lose } = losing()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'a' }, { gate }, { say: 'b' }, { gate: unique('never') }])
    await (await host.follow(id, null, 0)).next()
    lose(1)
    openGate(gate)
    expect(await ending(host, id)).toMatchObject({ status: 'failed', error: { code: 'state_unavailable' } })
    expect(wasStopped(id)).toBe(true)
    expect(eventsIn(await read(host, id)).map(({ type }) => type)).toEqual(['text', 'text', 'error'])
  })

  it('leaves one end', async () => {
    const { host, lose, hasLost } = losing()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'a' }, { gate }])
    await (await host.follow(id, null, 0)).next()
    lose(2)
    openGate(gate)
    await waitFor(hasLost)
    expect((await ending(host, id)).status).toBe('completed')
    expect(eventsIn(await read(host, id)).map(({ type }) => type)).toEqual(['text', 'finish'])
  })

  it('leaves no run that nobody works on', async () => {
    const { host, lose } = losing()
    // The first start sweeps, too.
    await ending(host, (await begin(host, [{ say: 'a' }])).id)
    lose(1)
    const options = { runId: 'lost' }
    await expect(begin(host, [{ gate: unique('never') }], { options })).rejects.toMatchObject({
      code: 'state_unavailable',
    })
    expect(await host.get('lost', null)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
    })
    expect(await host.list(null, { limit: 10 })).toMatchObject({
      runs: [{ status: 'failed' }, { status: 'completed' }],
    })
  })
})
