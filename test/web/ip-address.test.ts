import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressIn, addressKey } from '../../src/web/ip-address.ts'

describe('addressIn', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['1.2.3.4:_obscured', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['[::FFFF:1.2.3.4]:80', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:102:304', '1.2.3.4'],
    ['2001:0DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::', '::'],
  ])('finds of %s %s', (text, address) => {
    expect(addressIn(text)).toBe(address)
    expect(addressIn(address)).toBe(address)
  })

  it.each([
    '',
    ' ',
    'unknown',
    '_hidden',
    'localhost',
    'example.com',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4.5',
    '1.2.3.4:',
    '1.2.3.4:123456',
    '1.2.3.4, 5.6.7.8',
    '[1.2.3.4]',
    '[1.2.3.4]:80',
    '[2001:db8::1',
    '2001:db8::1]',
    '[2001:db8::1]:x',
    '::::',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    'g::1',
    '%eth0',
    '1.2.3.4\n5.6.7.8',
    'x'.repeat(100_000),
    '['.repeat(100_000),
  ])('finds none in %.40j', text => {
    expect(addressIn(text)).toBeUndefined()
  })

  it('gives each address in one way, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV6(), address => {
        const found = addressIn(address)!
        expect(found).toBeDefined()
        for (const spelling of [found, address.toUpperCase(), `[${address}]`, `[${address}]:1`]) {
          expect(addressIn(spelling)).toBe(found)
        }
      }),
    )
    fc.assert(
      fc.property(fc.ipV4(), address => {
        for (const spelling of [address, `${address}:65535`, `::ffff:${address}`, `[::ffff:${address}]:1`]) {
          expect(addressIn(spelling)).toBe(address)
        }
      }),
    )
  })
})

describe('addressKey', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['[::FFFF:1.2.3.4]:80', '1.2.3.4'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0000:ffff::1', '2001:db8:0:0::/64'],
    ['[2001:db8:0:1:2:3:4:5]:443', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['Unknown', 'unknown'],
  ])('counts %s as %s', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })
})
