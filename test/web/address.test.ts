import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AddressPolicy, checkAddress, isRange, UnknownNameError } from '../../src/web/address.ts'

const check = (url: string, policy: Partial<AddressPolicy> = {}) =>
  checkAddress(new URL(url), { allow: [], resolve: undefined, ...policy }).then(
    () => 'passes',
    error => error.code,
  )

/** Ways to write an address that leads into one's own network, as the URL standard reads them. */
const HOSTILE = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.0.0.1./',
  'http://１２７.０.０.１/',
  'http://①②⑦.⓪.⓪.①/',
  'http://0/',
  'http://0.0.0.0/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[0:0:0:0:0:ffff:7f00:1]/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::127.0.0.1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fc00::1]/',
  'http://168.63.129.16/',
  'http://[::ffff:0:7f00:1]/',
  'http://[::ffff:0:10.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b:1::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[2001:0:1::1]/',
  'http://[ff02::1]/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://198.18.0.1/',
  'http://192.0.2.1/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://app.localhost/',
  'http://printer.local/',
  'http://metadata.google.internal/',
  'http://router.home.arpa/',
  'http://intranet/',
  'http://user:pass@example.com/',
  'http://127.0.0.1@example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/plain,hi',
]

describe('checkAddress', () => {
  it.each(HOSTILE)('refuses %s', async url => {
    expect(await check(url)).toBe('address_refused')
  })

  it.each([
    'http://example.com/',
    'https://example.com:8443/mcp?x=1',
    'https://1.1.1.1/',
    'http://172.32.0.1/',
    'http://[2606:4700:4700::1111]/',
    'http://[64:ff9b::101:101]/',
    'http://[::ffff:1.1.1.1]/',
    'https://xn--bcher-kva.example/',
  ])('lets %s pass', async url => {
    expect(await check(url)).toBe('passes')
  })

  it.each([
    ['http://localhost:3000/', ['localhost']],
    ['http://localhost:3000/', ['LocalHost:3000']],
    ['http://localhost/', ['localhost:80']],
    ['http://2130706433/', ['127.0.0.1']],
    ['http://10.1.2.3/', ['10.0.0.0/8']],
    ['http://[::1]:8080/', ['[::1]:8080']],
    ['http://[::1]/', ['::1']],
    ['http://[fd12::1]/', ['fd00::/8']],
  ])('lets %s pass where %j is allowed', async (url, allow) => {
    expect(await check(url, { allow })).toBe('passes')
  })

  it.each([
    ['http://localhost:3001/', ['localhost:3000']],
    ['http://11.localhost/', ['localhost']],
    ['http://192.168.0.1/', ['10.0.0.0/8', '192.168.0.2', '192.168.0.0/32']],
    ['http://127.0.0.1/', ['::1/128', '127.0.0.1:81', 'nonsense/8', '127.0.0.0/x']],
  ])('refuses %s where %j is allowed', async (url, allow) => {
    expect(await check(url, { allow })).toBe('address_refused')
  })

  it.each([
    ['https://example.com/', 'passes'],
    ['https://example.com:8443/', 'passes'],
    ['https://example.com:22/', 'address_refused'],
    ['https://example.com:80/', 'address_refused'],
    ['https://1.1.1.1:9443/', 'address_refused'],
    ['https://own.example:9443/', 'passes'],
    ['https://10.1.2.3:9443/', 'passes'],
  ])('keeps to ports, but for what is allowed: %s', async (url, how) => {
    expect(await check(url, { allow: ['own.example', '10.0.0.0/8'], ports: [443, 8443] })).toBe(how)
  })

  it('refuses a name one of whose addresses is not public', async () => {
    const resolve = async (host: string) =>
      host === 'rebind.example' ? ['1.1.1.1', '127.0.0.1'] : ['1.1.1.1']
    expect(await check('http://rebind.example/', { resolve })).toBe('address_refused')
    expect(await check('http://public.example/', { resolve })).toBe('passes')
    expect(await check('http://rebind.example/', { resolve, allow: ['rebind.example'] })).toBe('passes')
    expect(await check('http://rebind.example/', { resolve, allow: ['127.0.0.0/8'] })).toBe('passes')
    expect(await check('http://v6.example/', { resolve: async () => ['fe80::1%eth0'] })).toBe(
      'address_refused',
    )
    expect(await check('http://odd.example/', { resolve: async () => ['no address'] })).toBe(
      'address_refused',
    )
  })

  it('refuses a name that leads nowhere or cannot be looked up, and says so', async () => {
    const url = new URL('http://none.example/')
    const failing = async () => {
      throw new Error('getaddrinfo EAI_AGAIN none.example')
    }
    for (const resolve of [async () => [], failing]) {
      const refusal = checkAddress(url, { allow: [], resolve })
      await expect(refusal).rejects.toBeInstanceOf(UnknownNameError)
      await expect(refusal).rejects.toMatchObject({
        code: 'address_refused',
        message: expect.stringContaining('`none.example` cannot be looked up'),
      })
      expect(await check(url.href, { resolve, allow: ['none.example'] })).toBe('passes')
    }
    // Where the runtime cannot look names up.
    expect(await check(url.href, { resolve: undefined })).toBe('passes')
  })

  // The time was quadratic: this took hours.
  it('takes time linear in a name, however many dots it has', async () => {
    expect(await check(`https://${'.'.repeat(500_000)}x/`)).toBe('passes')
    expect(await check(`https://x${'.'.repeat(500_000)}/`)).toBe('address_refused')
  })

  it('refuses every spelling of every loopback and private address', async () => {
    const block = fc.constantFrom([127, 8], [10, 8], [0, 8], [0xa9fe, 16], [0xc0a8, 16])
    await fc.assert(
      fc.asyncProperty(block, fc.nat(2 ** 24 - 1), async ([prefix = 0, bits = 8], rest) => {
        const value = prefix * 2 ** (32 - bits) + (rest % 2 ** (32 - bits))
        const bytes = [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256)
        const groups = [0, 2].map(at => ((bytes[at]! << 8) | bytes[at + 1]!).toString(16)).join(':')
        const spellings = [
          bytes.join('.'),
          String(value),
          `0x${value.toString(16)}`,
          `0${value.toString(8)}`,
          bytes.map(byte => `0x${byte.toString(16)}`).join('.'),
          `[::ffff:${bytes.join('.')}]`,
          `[::ffff:${groups}]`,
          `[64:ff9b::${groups}]`,
          `[2002:${groups}::1]`,
        ]
        for (const host of spellings) expect(await check(`http://${host}/`)).toBe('address_refused')
      }),
    )
  })
})

describe('isRange', () => {
  it('knows ranges from what is none', () => {
    expect(['10.0.0.0/8', '::1/128', 'fd00::/8', '0.0.0.0/0'].filter(isRange)).toHaveLength(4)
    expect(
      [
        '10.0.0.0',
        '10.0.0.0/33',
        'fd00::/129',
        'localhost/8',
        '10.0.0/8',
        '10.0.0.0/8/8',
        '/8',
        '1.2.3.4/-1',
      ].filter(isRange),
    ).toEqual([])
  })
})
