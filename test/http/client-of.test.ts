import { describe, expect, it } from 'vitest'
import { clientOf, createStoredClientOf } from '../../src/http/security/client-of.ts'

const storedClientOf = createStoredClientOf()

describe('whose place a request takes', () => {
  it('is the identity, wherever it comes from', () => {
    expect(clientOf({ owner: 'ann', ip: '192.0.2.1' })).toBe(clientOf({ owner: 'ann', ip: undefined }))
    expect(clientOf({ owner: 'ann', ip: undefined })).not.toBe(clientOf({ owner: 'bob', ip: undefined }))
  })

  it('is the address without one: of IPv6 the network', () => {
    const at = (ip: string | undefined) => clientOf({ owner: null, ip })
    expect(at('192.0.2.1')).not.toBe(at('192.0.2.2'))
    expect(at('2001:db8:1:2::5')).toBe(at('2001:db8:1:2:ffff::9'))
    expect(at('2001:db8:1:2::5')).not.toBe(at('2001:db8:1:3::5'))
  })

  it('is everyone’s of whom neither is known', () => {
    expect(clientOf({ owner: null, ip: undefined })).toBe('anonymous')
  })

  it('cannot be claimed: no id is another one’s address, or nobody', async () => {
    const names = [
      { owner: 'anonymous', ip: undefined },
      { owner: 'address:192.0.2.1', ip: undefined },
      { owner: null, ip: '192.0.2.1' },
      { owner: null, ip: undefined },
    ]
    expect(new Set(names.map(clientOf)).size).toBe(4)
    expect(new Set(await Promise.all(names.map(storedClientOf))).size).toBe(4)
  })

  it('names no address in a store', async () => {
    const stored = await storedClientOf({ owner: null, ip: '192.0.2.1' })
    expect(stored).toMatch(/^address:[0-9a-f]{64}$/)
    expect(await storedClientOf({ owner: null, ip: '192.0.2.1' })).toBe(stored)
  })
})
