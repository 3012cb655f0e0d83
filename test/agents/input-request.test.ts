import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requestOf } from '../../src/agents/input-request.ts'
import { canonicalJson } from '../../src/base/canonical-json.ts'

const refund = {
  id: 'run/approve:refund',
  kind: 'approval',
  toolName: 'refund',
  args: { order: 7, to: 'ada' },
} as const

describe('requestOf', () => {
  it('gives the request with the SHA-256 of what is shown, in base64url', async () => {
    const text = '{"args":{"order":7,"to":"ada"},"kind":"approval","toolName":"refund"}'
    const digest = createHash('sha256').update(text).digest('base64url')
    expect(await requestOf(refund)).toEqual({ ...refund, digest })
  })

  it('depends on what is shown, and not on where it is asked or how its members are ordered', async () => {
    const { digest } = await requestOf(refund)
    const same = { ...refund, id: 'other/place', toolCallId: 'call_1', args: { to: 'ada', order: 7 } }
    expect((await requestOf(same)).digest).toBe(digest)
    const others = [
      { ...refund, args: { order: 8, to: 'ada' } },
      { ...refund, toolName: 'pay' },
      { ...refund, kind: 'client_tool' },
      { ...refund, message: 'Refund it?' },
      { ...refund, schema: { type: 'object' } },
    ] as const
    for (const other of others) expect((await requestOf(other)).digest).not.toBe(digest)
  })

  it('is the same for what JSON makes of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async args => {
        const told = await requestOf({ ...refund, args })
        const read = await requestOf({ ...refund, args: JSON.parse(JSON.stringify(args)) })
        const { kind, toolName } = refund
        const hash = createHash('sha256').update(
          canonicalJson(JSON.parse(JSON.stringify({ kind, toolName, args }))),
        )
        expect([told.digest, read.digest]).toEqual(Array(2).fill(hash.digest('base64url')))
      }),
    )
    const date = new Date(0)
    expect((await requestOf({ ...refund, args: [undefined, date] })).digest).toBe(
      (await requestOf({ ...refund, args: [null, date.toISOString()] })).digest,
    )
  })
})
