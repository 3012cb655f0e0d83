import { array, assert, nat, property, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Claim, FairShare } from '../../src/base/fair-share.ts'

const of = (name: string, times?: number): Claim[] => [{ name, ...(times !== undefined && { times }) }]

/** How often one name may take one more. */
function takeAll(share: FairShare, claims: readonly Claim[]): number {
  let count = 0
  while (share.change(claims, 0, 1)) count++
  return count
}

describe('FairShare', () => {
  it('gives one alone half of it, and each newcomer a part of what is left', () => {
    const share = new FairShare(16)
    expect(['a', 'b', 'c', 'd', 'e'].map(name => takeAll(share, of(name)))).toEqual([8, 4, 1, 1, 1])
  })

  it.each([
    [16, 6],
    [48, 20],
    [48, 36],
  ])(
    'of %i places, of which %i who want ten each take what they get, leaves a quarter for others',
    (size, count) => {
      const share = new FairShare(size)
      const greedy = Array.from({ length: count }, (_, at) => of(`greedy ${at}`, 3))
      for (let turn = 0; turn < 10; turn++) for (const claims of greedy) share.change(claims, 0, 1)
      const newcomers = Array.from({ length: size }, (_, at) => share.change(of(`new ${at}`), 0, 1))
      expect(newcomers.filter(Boolean)).toHaveLength(size / 4)
    },
  )

  it('lets two who come by turns have a third each', () => {
    const share = new FairShare(48)
    const taken = { a: 0, b: 0 }
    for (let turn = 0; turn < 100; turn++) {
      for (const name of ['a', 'b'] as const) if (share.change(of(name), 0, 1)) taken[name]++
    }
    expect(taken).toEqual({ a: 16, b: 16 })
  })

  it('gives a single one everything at once', () => {
    const share = new FairShare(32)
    expect(share.change(of('a'), 0, 33)).toBe(false)
    expect(share.change(of('a'), 0, 32)).toBe(true)
    expect(share.change(of('b'), 0, 1)).toBe(false)
    share.change(of('a'), 32, 0)
    expect(share.change(of('b'), 0, 32)).toBe(true)
  })

  it('lets what grows have as much as it could have had at once', () => {
    const share = new FairShare(32)
    for (let size = 0; size < 32; size++) expect(share.change(of('a'), size, size + 1)).toBe(true)
    expect(share.change(of('a'), 32, 33)).toBe(false)
  })

  it('takes only what every name may have, each as many times what is free as it says', () => {
    const share = new FairShare(48)
    const claims = (receiver: string) => [{ name: 'client', times: 3 }, { name: receiver }]
    expect(takeAll(share, claims('slow'))).toBe(24)
    expect(takeAll(share, claims('healthy'))).toBeGreaterThan(0)
    expect(takeAll(share, of('another'))).toBeGreaterThan(0)
  })

  it('has everything again once everything is given back, whatever was done before', () => {
    const acts = array(tuple(nat(8), nat(9)), { maxLength: 60 })
    assert(
      property(acts, steps => {
        const share = new FairShare(12)
        // Three of each of three names.
        const held = Array<number>(9).fill(0)
        const nameOf = (index: number) => of(`name ${index % 3}`)
        for (const [index, to] of steps) {
          if (share.change(nameOf(index), held[index]!, to)) held[index] = to
          expect(held.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(12)
        }
        for (const [index, each] of held.entries()) share.change(nameOf(index), each, 0)
        expect(share.change(of('anyone'), 0, 12)).toBe(true)
      }),
    )
  })
})
