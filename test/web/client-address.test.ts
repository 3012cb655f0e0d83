import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createAddressReader, isTrustProxy, type TrustProxy } from '../../src/web/client-address.ts'
import { addressIn } from '../../src/web/ip-address.ts'

const PEER = '10.0.0.1'

/** What is found with some headers, given as they come over the wire. */
function read(trust: TrustProxy | undefined, headers: [string, string][], peer: string | undefined = PEER) {
  return createAddressReader(trust, () => {})(new Headers(headers), peer)
}

const forwardedFor = (trust: TrustProxy, ...fields: string[]) =>
  read(
    trust,
    fields.map(field => ['x-forwarded-for', field]),
  )

describe('a reader that believes nobody', () => {
  it('gives the address of the connection in one way, whatever headers say', () => {
    const headers: [string, string][] = [
      ['x-forwarded-for', '6.6.6.6'],
      ['forwarded', 'for=6.6.6.6'],
      ['cf-connecting-ip', '6.6.6.6'],
    ]
    expect(read(undefined, headers)).toBe(PEER)
    expect(read(undefined, headers, '::ffff:10.0.0.1')).toBe(PEER)
    expect(read(undefined, headers, 'a pipe')).toBe('a pipe')
    for (const peer of [undefined, '']) {
      expect(createAddressReader(undefined, () => {})(new Headers(headers), peer)).toBeUndefined()
    }
  })
})

describe('a number of proxies', () => {
  it.each<[number, string[], string]>([
    [1, ['1.1.1.1'], '1.1.1.1'],
    [1, ['6.6.6.6, 1.1.1.1'], '1.1.1.1'],
    [1, ['6.6.6.6', '1.1.1.1:5000'], '1.1.1.1'],
    [1, ['6.6.6.6,1.1.1.1, '], '1.1.1.1'],
    [2, ['6.6.6.6, 1.1.1.1, 2.2.2.2'], '1.1.1.1'],
    [2, ['6.6.6.6', '1.1.1.1', '2.2.2.2'], '1.1.1.1'],
    // A proxy wrote the first one: there was nobody before it.
    [3, ['1.1.1.1, 2.2.2.2'], '1.1.1.1'],
    [1, ['6.6.6.6, unknown'], PEER],
    [2, ['6.6.6.6, unknown, 2.2.2.2'], PEER],
    [1, [], PEER],
    [1, [''], PEER],
    [1, [' , ,, '], PEER],
    [1, ['[2001:db8::1]:80'], '2001:db8::1'],
    [1, ['::ffff:1.1.1.1'], '1.1.1.1'],
  ])('%i finds in %j %s', (hops, fields, address) => {
    expect(forwardedFor(hops, ...fields)).toBe(address)
  })

  it('gives what the proxy added, whatever a client sent before it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary-ascii' }), { maxLength: 5 }),
        fc.ipV4(),
        (sent, address) => {
          const fields = sent.map(field => field.replace(/[\0\r\n]/g, ''))
          expect(forwardedFor(1, ...fields, address)).toBe(address)
          expect(forwardedFor(2, ...fields, address, '2.2.2.2')).toBe(address)
        },
      ),
    )
  })

  it('reads no more of a header than proxies write', () => {
    const long = 'x'.repeat(1_000_000)
    expect(forwardedFor(1, long)).toBe(PEER)
    expect(forwardedFor(1, `${long}, 1.1.1.1`)).toBe('1.1.1.1')
    expect(forwardedFor(1, `1.1.1.1${' '.repeat(1_000_000)}`)).toBe('1.1.1.1')
    expect(forwardedFor(32, Array(100_000).fill('1.1.1.1').join())).toBe('1.1.1.1')
    // The 5 that are cut in two are no address.
    expect(forwardedFor(2, `6.6.6.6${' '.repeat(4090)}, 1.1.1.1`)).toBe('1.1.1.1')
  })
})

describe('a header', () => {
  it.each<[string, [string, string][], string]>([
    ['cf-connecting-ip', [['CF-Connecting-IP', '1.1.1.1']], '1.1.1.1'],
    ['X-Real-IP', [['x-real-ip', '2001:DB8::1']], '2001:db8::1'],
    ['x-real-ip', [['x-forwarded-for', '6.6.6.6']], PEER],
    ['x-real-ip', [['x-real-ip', 'nonsense']], PEER],
    [
      'x-real-ip',
      [
        ['x-real-ip', '6.6.6.6'],
        ['x-real-ip', '1.1.1.1'],
      ],
      '1.1.1.1',
    ],
    ['x-forwarded-for', [['x-forwarded-for', '6.6.6.6, 1.1.1.1']], '1.1.1.1'],
    ['Forwarded', [['forwarded', 'for=1.1.1.1']], '1.1.1.1'],
    ['forwarded', [['forwarded', 'for=6.6.6.6, For="1.1.1.1:80";proto=https;by=2.2.2.2']], '1.1.1.1'],
    ['forwarded', [['forwarded', 'proto=http; for="[2001:db8:cafe::17]:4711" ']], '2001:db8:cafe::17'],
    ['forwarded', [['forwarded', 'for="1.1.1.1";host="a,b;c=\\"d\\""']], '1.1.1.1'],
    ['forwarded', [['forwarded', 'for=1.1.1.1, proto=https']], PEER],
    ['forwarded', [['forwarded', 'for=1.1.1.1;for=6.6.6.6']], PEER],
    ['forwarded', [['forwarded', 'for=unknown']], PEER],
    ['forwarded', [['forwarded', 'for=_hidden']], PEER],
    ['forwarded', [['forwarded', 'for="1.1.1.1']], PEER],
    ['forwarded', [['forwarded', '1.1.1.1']], PEER],
    ['forwarded', [['forwarded', 'for=1.1.1.1 for=1.1.1.1']], PEER],
  ])('%s finds in %j %s', (name, headers, address) => {
    expect(read(name, headers)).toBe(address)
  })

  it('gives what the proxy added to `Forwarded`, whatever a client sent before it', () => {
    const nodes = fc.oneof(
      fc.ipV4().map(address => [address, `for=${address};proto=http`] as const),
      fc
        .ipV6()
        .map(address => [addressIn(address)!, `proto=https;for="[${address}]:80";by="_a,b;"`] as const),
    )
    const sent = fc.string({ unit: fc.constantFrom(...'for=6.,;"\\ x[]:') })
    fc.assert(
      fc.property(sent, nodes, (before, [address, element]) => {
        expect(read('forwarded', [['forwarded', `${before}, ${element}`]])).toBe(address)
      }),
      { numRuns: 1000 },
    )
    expect(read('forwarded', [['forwarded', `for=6.6.6.6;x=", for=1.1.1.1;by="_p"`]])).toBe('1.1.1.1')
    expect(read('forwarded', [['forwarded', '"'.repeat(100_000)]])).toBe(PEER)
    expect(read('forwarded', [['forwarded', `${'\\'.repeat(100_000)}"`]])).toBe(PEER)
  })
})

describe('a function', () => {
  const isProxy = (peer: string | undefined) => peer?.startsWith('10.') === true

  it.each<[string, string[], string]>([
    [PEER, ['1.1.1.1'], '1.1.1.1'],
    [PEER, ['6.6.6.6, 1.1.1.1, 10.0.0.2'], '1.1.1.1'],
    [PEER, ['10.0.0.3, 10.0.0.2'], '10.0.0.3'],
    [PEER, [], PEER],
    [PEER, ['1.1.1.1, nonsense, 10.0.0.2'], PEER],
    ['::ffff:10.0.0.1', ['1.1.1.1, ::ffff:10.0.0.2'], '1.1.1.1'],
    // Who is no proxy is not believed.
    ['7.7.7.7', ['1.1.1.1'], '7.7.7.7'],
    ['7.7.7.7', ['1.1.1.1, 10.0.0.2'], '7.7.7.7'],
  ])('finds for %s with %j %s', (peer, fields, address) => {
    const headers = fields.map((field): [string, string] => ['x-forwarded-for', field])
    expect(read(isProxy, headers, peer)).toBe(address)
  })

  it('gives the nearest address that is no proxy, whatever a client sent before it', () => {
    const proxies = fc.array(fc.nat(255), { maxLength: 20 })
    const client = fc.ipV4().filter(address => !isProxy(address))
    fc.assert(
      fc.property(fc.string(), client, proxies, (sent, address, last) => {
        const before = sent.replace(/[^\x20-\x7e]/g, '')
        const field = [before, address, ...last.map(each => `10.0.0.${each}`)].join(', ')
        expect(forwardedFor(isProxy, field)).toBe(address)
      }),
    )
  })

  it('is asked where no address of the connection is known', () => {
    const asked = vi.fn(() => false)
    expect(createAddressReader(asked, () => {})(new Headers(), undefined)).toBeUndefined()
    expect(asked).toHaveBeenCalledWith(undefined)
  })

  it('believes nobody where it throws, or gives anything but `true`', () => {
    const onError = vi.fn()
    const headers = new Headers({ 'x-forwarded-for': '1.1.1.1' })
    const broken = () => {
      throw new Error('broken')
    }
    expect(createAddressReader(broken, onError)(headers, PEER)).toBe(PEER)
    expect(onError).toHaveBeenCalledOnce()
    const late = (async () => true) as never
    expect(createAddressReader(late, onError)(headers, PEER)).toBe(PEER)
  })

  it('is asked for no more proxies than there may be', () => {
    const asked = vi.fn(() => true)
    expect(forwardedFor(asked, Array(200).fill('10.0.0.2').join())).toBe(PEER)
    expect(asked.mock.calls.length).toBeLessThan(40)
  })
})

describe('isTrustProxy', () => {
  it('takes a number of proxies, the name of a header and a function', () => {
    expect([1, 32, 'x-real-ip', () => true].every(isTrustProxy)).toBe(true)
    expect([0, 33, 1.5, -1, Number.NaN, true, false, '', 'x y', null, {}].some(isTrustProxy)).toBe(false)
  })
})
