import { createHash } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { toBase64 } from '../../../src/web/base64.ts'
import { eventually } from '../../eventually.ts'
import { accept, type Server } from '../runs/client.ts'
import { bytesOf } from './bytes.ts'
import { addressIn, as, fetchFile, makes, own, sends } from './client.ts'

const file = (size: number, seed: number) => [{ type: 'file', made: { size, seed }, mimeType: 'a/b' }]

/** Each sweep is a hundred runs. */
const WAIT = { timeout: 30_000, interval: 500 }

/** Runs that begin make a store in this process look for those that are gone; objects have alarms. */
async function sweep(server: Server): Promise<void> {
  if (server().runtime === 'workerd') return
  await Promise.all(
    Array.from({ length: 101 }, () => accept(server, 'agents/says', { input: '[]' }, as(own('x')))),
  )
}

/** Runs of the service are kept for a second and a half. */
export function deletingCases(server: Server): void {
  it('deletes files with the last run that refers to them', async () => {
    const headers = as(own('brief'))
    const address = addressIn(await makes(server, 'a', file(4_000_000, 1), headers))
    await eventually(async () => {
      const { status } = await fetchFile(server, address, headers)
      expect(status).toBe(404)
    })
    await vi.waitFor(async () => {
      await sweep(server)
      // There is room again.
      expect((await makes(server, 'b', file(5_000_000, 2), headers)).status).toBe('completed')
    }, WAIT)
  })
}

/** Sessions of the service are kept for a second and a half, and nobody asks before a run must have begun. */
export function deletingTurnCases(server: Server): void {
  it('deletes the files that a client sent with the session', async () => {
    const headers = as(own('brief'))
    const data = toBase64(bytesOf({ size: 5000, seed: 9 }))
    const input = [{ type: 'image', data } as const]
    const { id } = await sends(server, { input, sessionId: own('session') }, headers)
    const statusNow = async () => (await fetchFile(server, `/api/runs/${id}/input`, headers)).status
    expect(await statusNow()).toBe(200)
    await vi.waitFor(
      async () => {
        await sweep(server)
        expect(await statusNow()).toBe(404)
      },
      { ...WAIT, interval: 2000 },
    )
  })
}

/** The same, where a store of one's own has the bytes. */
export function deletingOwnCases(server: Server): void {
  it('deletes files of a store of one’s own with the last run that refers to them', async () => {
    const names = async () => (await fetch(`${server().url}/probe`)).json() as Promise<string[]>
    const headers = as(own('brief'))
    const address = addressIn(await makes(server, 'a', file(5003, 7), headers))
    expect((await fetchFile(server, address, headers)).status).toBe(200)
    const digest = createHash('sha256')
      .update(bytesOf({ size: 5003, seed: 7 }))
      .digest('hex')
    const ours = async () => (await names()).filter(name => name.startsWith(digest))
    expect(await ours()).toEqual([expect.stringMatching(/^[\da-f]{64}-[\da-f]{8}$/)])
    await vi.waitFor(async () => {
      await sweep(server)
      expect(await ours()).toEqual([])
    }, WAIT)
  })
}
