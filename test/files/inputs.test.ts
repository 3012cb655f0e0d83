/** Inputs of runs, as turns store them. */
import { expect, it } from 'vitest'
import { bytesOf } from '../contracts/files/bytes.ts'
import { filePart, filesIn, NOTHING, service } from './kit.ts'

const OWNER = { owner: null }

it('an input has addresses while it is stored, and its data again for a model', async () => {
  const { run, files, ask, store, forget } = service(() => ['ok'])
  const { id: runId } = await run()
  const input = [{ type: 'text', text: 'see' } as const, filePart(5000), filePart(3), filePart(3_000_000, 1)]
  const kept = await files.input({ ...OWNER, runId }, input, [runId, 'turn-of-session'])
  expect(kept).toEqual([
    input[0],
    { ...input[1], data: `/api/runs/${runId}/input?part=1` },
    input[2],
    { ...input[3], data: `/api/runs/${runId}/input?part=3` },
  ])
  const response = await ask(`/api/runs/${runId}/input?part=1`)
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytesOf({ size: 5000 }))
  expect(await files.restore({ ...OWNER, runId }, kept)).toEqual(input)
  forget(runId)
  // The run is gone, and what else refers to its input is not.
  expect(await files.restore({ ...OWNER, runId }, kept)).toEqual(kept)
  expect(await files.restore({ ...OWNER, runId }, kept, 'turn-of-session')).toEqual(input)
  store.write(tx => files.forgetIn?.(tx, 'turn-of-session'))
  expect(filesIn(store)).toEqual(NOTHING)
})

it('an address that a client has made up is no file', async () => {
  const { run, files } = service(() => ['ok'])
  const [{ id: one }, { id: other }] = [await run(), await run()]
  await files.input({ ...OWNER, runId: one }, [filePart(5000)])
  for (const address of [`/api/runs/${one}/input`, `https://x.example/api/runs/${one}/input`]) {
    const claimed = [{ type: 'image', data: address } as const]
    expect(await files.restore({ ...OWNER, runId: other }, claimed)).toEqual(claimed)
  }
  expect(await files.input({ ...OWNER, runId: one }, 'text')).toBe('text')
  expect(await files.restore({ ...OWNER, runId: one }, 'text')).toBe('text')
})
