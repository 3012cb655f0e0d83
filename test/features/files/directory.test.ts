/** Files in a directory. */
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { directory } from '../../../src/runtimes/node.ts'
import { eventually } from '../../eventually.ts'
import { untyped } from '../../support.ts'
import { artifact, service } from './kit.ts'

const NAME = `${'a'.repeat(64)}-01234567`
const BYTES = new Uint8Array([1, 2, 3])
const FACTS = { mimeType: 'a/b' }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servable-directory-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a directory', () => {
  it('has the files of runs under their digests, and no others', async () => {
    const path = join(folder, 'runs/files')
    const { run, ask, forget } = service(() => [artifact('../../x', 5000)], { store: directory(path) })
    const { id } = await run()
    const [name = '', ...more] = await readdir(path)
    expect([name, more]).toEqual([expect.stringMatching(/^[\da-f]{64}-[\da-f]{8}$/), []])
    const response = await ask(`/api/runs/${id}/artifacts/..%2F..%2Fx`)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(await readFile(join(path, name)))
    forget(id)
    await eventually(async () => expect(await readdir(path)).toEqual([]))
  })

  it('gives back what it was given', async () => {
    const store = directory(folder)
    expect([await store.has(NAME), await store.get(NAME)]).toEqual([false, undefined])
    await store.put(NAME, BYTES, FACTS)
    await store.put(NAME, BYTES, FACTS)
    expect([await store.has(NAME), await store.get(NAME)]).toEqual([true, BYTES])
    await store.delete(NAME)
    await store.delete(NAME)
    expect(await store.has(NAME)).toBe(false)
  })

  it.each(['', '..', '../x', '/etc/passwd', NAME.toUpperCase(), `${NAME}/x`, `${NAME}\n`])(
    'has no file %j',
    async name => {
      const store = directory(folder)
      const uses = [
        async () => store.get(name),
        async () => store.has(name),
        async () => store.delete(name),
        async () => store.put(name, BYTES, FACTS),
      ]
      for (const use of uses) await expect(use()).rejects.toMatchObject({ code: 'internal_error' })
    },
  )

  it('deletes what a crash has left there, and nothing else', async () => {
    const path = await mkdtemp(join(folder, 'crash-'))
    const [old, young] = ['.00000000-0000.part', '.00000000-0001.part']
    for (const name of [old, young, '.part', 'note']) await writeFile(join(path, name), 'x')
    await utimes(join(path, old), 0, 0)
    await utimes(join(path, 'note'), 0, 0)
    await directory(path).put(NAME, BYTES, FACTS)
    expect((await readdir(path)).sort()).toEqual([young, '.part', NAME, 'note'].sort())
  })

  it('leaves no half file where it cannot be written', async () => {
    await writeFile(join(folder, 'file'), 'x')
    await expect(directory(join(folder, 'file')).put(NAME, BYTES, FACTS)).rejects.toThrow()
    expect(() => directory(untyped(undefined))).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })
})
