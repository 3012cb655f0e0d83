import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeal } from '../../../src/adapters/mcp-client/seal.ts'

const key = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)))

describe('createSeal', () => {
  it('opens what it closed, and shows none of it', async () => {
    const seal = createSeal([key(1)], 'encryptionKey')
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 8 }), fc.string(), async (text, context) => {
        const closed = await seal.close(text, context)
        expect(closed).not.toContain(text)
        expect(await seal.open(closed, context)).toBe(text)
      }),
    )
    expect(await seal.close('the same', 'x')).not.toBe(await seal.close('the same', 'x'))
  })

  it('opens neither with another key, nor in another place, nor what was changed', async () => {
    const seal = createSeal([key(1)], 'encryptionKey')
    const closed = await seal.close('secret text', 'one')
    const refused = { code: 'tool_server_failed' }
    await expect(createSeal([key(2)], 'encryptionKey').open(closed, 'one')).rejects.toMatchObject(refused)
    await expect(createSeal([], 'encryptionKey').open(closed, 'one')).rejects.toMatchObject(refused)
    await expect(seal.open(closed, 'two')).rejects.toMatchObject(refused)
    const changed = closed.slice(0, -4) + (closed.at(-4) === 'A' ? 'B' : 'A') + closed.slice(-3)
    await expect(seal.open(changed, 'one')).rejects.toMatchObject(refused)
    await expect(seal.open('aes-gcm:', 'one')).rejects.toMatchObject(refused)
    await expect(seal.open('aes-gcm:%%:%%', 'one')).rejects.toMatchObject(refused)
  })

  it('closes with the first key and opens with all', async () => {
    const old = await createSeal([key(1)], 'encryptionKey').close('kept', 'one')
    const both = createSeal([key(2), key(1)], 'encryptionKey')
    expect(await both.open(old, 'one')).toBe('kept')
    const fresh = await both.close('kept', 'one')
    expect(await createSeal([key(2)], 'encryptionKey').open(fresh, 'one')).toBe('kept')
  })

  it('leaves text as it is without a key, and reads such text with one', async () => {
    expect(await createSeal([], 'encryptionKey').close('plain', 'one')).toBe('plain')
    expect(await createSeal([key(1)], 'encryptionKey').open('plain', 'one')).toBe('plain')
  })

  it.each(['', 'short', btoa('31 bytes are not enough, are they'.slice(0, 31)), '%%%', 7 as never])(
    'says how to make a key where %j is given, and not what was given',
    given => {
      expect(() => createSeal([given], 'encryptionKey')).toThrow(
        /`encryptionKey` must be 32 bytes.*openssl rand/,
      )
      expect(() => createSeal([given], 'encryptionKey')).not.toThrow(/short|31 bytes/)
    },
  )
})
