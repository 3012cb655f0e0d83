/** Files at their bounds, and how they go. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { eventually } from '../../eventually.ts'
import { artifact, filePart, filesIn, NOTHING, ownStore, service } from './kit.ts'

afterEach(() => void vi.useRealTimers())

const MIB = 1024 * 1024

describe('a run', () => {
  it('may have a file of 20 MiB, and none of one byte more', async () => {
    let size = 20 * MIB
    const { run, ask } = service(() => [artifact('a', size)])
    const { id, status } = await run()
    expect(status).toBe('completed')
    const { headers, body } = await ask(`/api/runs/${id}/artifacts/a`)
    expect(headers.get('content-length')).toBe(String(size))
    let length = 0
    for await (const chunk of body!) length += chunk.length
    expect(length).toBe(size)
    size++
    expect((await run()).error).toMatchObject({ code: 'run_too_large' })
  })

  it('may have 10,000 artifacts', async () => {
    const { run, json, ask, store, forget } = service(
      function* () {
        for (let index = 0; index < 10_000; index++) yield artifact(`a/${index}`, 4097, index)
      },
      {},
      { runs: { maxLength: 100_000_000 } },
    )
    const { id, result } = await run()
    expect(result?.artifacts).toHaveLength(10_000)
    expect(filesIn(store)).toMatchObject({ 'file-reference': 10_000, file: 256 })
    expect((await ask(`/api/runs/${id}/artifacts/a%2F9999`)).status).toBe(200)
    expect(await json(`/api/runs/${id}/artifacts/a%2F10000`)).toMatchObject({ code: 'file_not_found' })
    forget(id)
    expect(filesIn(store)).toEqual(NOTHING)
  })

  it('has no more files in all than the characters that a run may have', async () => {
    const says = [0, 1, 2].map(seed => artifact(`a${seed}`, 30_000, seed))
    const { run } = service(() => says, {}, { runs: { maxLength: 100_000 } })
    expect((await run()).error).toMatchObject({ code: 'run_too_large' })
    expect((await service(() => says).run()).status).toBe('completed')
  })

  it('keeps the last of those that have one place', async () => {
    const { run, ask, store } = service(() => [artifact('a', 5000, 1), artifact('a', 6000, 2)])
    const { id } = await run()
    expect((await ask(`/api/runs/${id}/artifacts/a`)).headers.get('content-length')).toBe('6000')
    expect(filesIn(store)).toMatchObject({ file: 1, 'file-reference': 1, 'file-piece': 1 })
  })
})

describe('an artifact in chunks', () => {
  const chunk = (seed: number, more: object) =>
    ({ type: 'artifact', artifactId: 'a', parts: [filePart(3000, seed)], ...more }) as const

  it('is a file at the end of a run, also if its last chunk was not named', async () => {
    const { run, ask } = service(() => [chunk(1, { lastChunk: false }), chunk(2, { append: true })])
    const { id, result } = await run()
    expect(result?.artifacts?.[0]?.parts).toHaveLength(1)
    expect((await ask(`/api/runs/${id}/artifacts/a`)).headers.get('content-length')).toBe('6000')
  })

  it('is nothing where the run fails in the midst of it', async () => {
    const { run, store } = service(function* () {
      yield chunk(1, { lastChunk: false })
      throw new Error('it broke')
    })
    expect((await run()).status).toBe('failed')
    expect(filesIn(store)).toEqual(NOTHING)
  })

  it('is several files where its chunks say so', async () => {
    const { run, ask } = service(() => [
      chunk(1, { lastChunk: false }),
      { type: 'artifact', artifactId: 'a', append: true, parts: [{ ...filePart(5000), filename: 'b' }] },
      { type: 'artifact', artifactId: 'a', append: true, parts: [{ type: 'text', text: 'x' }] },
      chunk(2, { append: true, lastChunk: true }),
    ])
    const { id, result } = await run()
    expect(result?.artifacts?.[0]?.parts.map(({ type }) => type)).toEqual(['file', 'file', 'text', 'file'])
    const sizes = await Promise.all(
      [0, 1, 2, 3].map(async part =>
        (await ask(`/api/runs/${id}/artifacts/a?part=${part}`)).headers.get('content-length'),
      ),
    )
    expect(sizes).toEqual(['3000', '5000', '1', '3000'])
  })

  it('is too large where all of it is', async () => {
    const { run } = service(() => [chunk(1, { lastChunk: false }), chunk(2, { append: true })], {
      maxFileBytes: 5999,
    })
    expect((await run()).error).toMatchObject({ code: 'run_too_large' })
  })
})

describe('a file', () => {
  it('is stored once for all runs of an owner, and goes with the last of them', async () => {
    const own = ownStore()
    const { run, store, ask, forget } = service(() => [artifact('a', 5000)], { store: own })
    const [one, two] = [await run(), await run()]
    expect(own.names()).toHaveLength(1)
    forget(one.id)
    expect(filesIn(store)).toMatchObject({ file: 1, 'file-reference': 1, 'file-left-over': 0 })
    expect((await ask(`/api/runs/${two.id}/artifacts/a`)).status).toBe(200)
    forget(two.id)
    expect(filesIn(store)).toMatchObject({ ...NOTHING, 'file-left-over': 1 })
    // The next file is a new one, and what is left over of the old one goes.
    const [before] = own.names()
    await run()
    await eventually(() => expect(own.names()).toHaveLength(1))
    expect(own.names()).not.toContain(before)
    expect(filesIn(store)).toMatchObject({ file: 1, 'file-left-over': 0 })
  })

  it('is written again where a store of one’s own has lost it', async () => {
    const own = ownStore()
    const { run, ask, json } = service(() => [artifact('a', 5000)], { store: own })
    const { id } = await run()
    await own.delete(own.names()[0] ?? '')
    expect(await json(`/api/runs/${id}/artifacts/a`)).toMatchObject({ code: 'file_not_found' })
    await run()
    expect((await ask(`/api/runs/${id}/artifacts/a`)).status).toBe(200)
  })

  it('goes an hour after its run, where that has gone without a word', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { run, store } = service(() => [artifact('a', 5000, said++)], {}, { runs: { retentionMs: 1 } })
    let said = 0
    const { id } = await run()
    store.write(tx => tx.delete('run', id))
    vi.setSystemTime(Date.now() + 600_000 + 3_600_000 + 60_000)
    await run()
    await eventually(() => expect(filesIn(store)).toMatchObject({ file: 1, 'file-reference': 1 }))
  })

  it('goes with the last run that leaves a full memory, though nobody tells of that', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let said = 0
    const { run, store, forget } = service(() => [artifact('a', 5000, said)])
    const [one, two] = [await run(), await run()]
    const later = async () => {
      vi.setSystemTime(Date.now() + 3_700_000)
      said++
      await run()
    }
    forget(one.id)
    await later()
    await eventually(() => expect(filesIn(store)).toMatchObject({ file: 2 }))
    store.write(tx => {
      for (const { id } of tx.withPrefix('file-reference', two.id, 10)) tx.delete('file-reference', id)
    })
    await later()
    await eventually(() => expect(filesIn(store)).toMatchObject({ file: 2, 'file-piece': 2 }))
  })

  it('leaves a full memory with its run, and its owner has room again', async () => {
    let said = 0
    const own = { maxBytesPerOwner: 1_500_000 }
    const { run, ask, store } = service(
      () => [artifact('a', 300_000, said++)],
      own,
      {},
      memoryStore(2_000_000),
    )
    const first = await run()
    vi.useFakeTimers({ toFake: ['Date'] })
    for (let times = 0; times < 10; times++) {
      vi.setSystemTime(Date.now() + 61_000)
      expect((await run()).status).toBe('completed')
    }
    expect((await ask(`/api/runs/${first.id}/artifacts/a`)).status).toBe(404)
    expect(filesIn(store).file).toBeLessThan(4)
  })
})
