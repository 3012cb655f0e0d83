/** Which hosts and pages reach the endpoint: a page may have had its own name resolved to this machine (DNS rebinding). */
import { describe, expect, it } from 'vitest'
import { type HandlerOptions, platform } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { serve } from './calling.ts'

interface Reached {
  readonly host: string
  readonly isPage?: boolean
  readonly ip?: string
}

/** Whether a request is answered, and not refused for its host. */
async function reaches(
  { host, isPage = false, ip }: Reached,
  allowedHosts: readonly string[] | undefined,
  options: HandlerOptions,
): Promise<boolean> {
  const { ask } = serve({ tools: true, allowedHosts }, options)
  const headers = { host, ...(isPage && { origin: `http://${host}` }) }
  const asked = {
    headers,
    url: `http://${host}/mcp`,
    ...(ip !== undefined && { platform: platform({ ip }) }),
  }
  const { status, error } = await ask('server/discover', {}, asked)
  if (status === 200) return true
  expect([status, error.code, error.data]).toEqual([403, -32000, { code: 'forbidden' }])
  return false
}

const LOOPBACK = [
  'localhost',
  'localhost:8787',
  '127.0.0.1',
  '127.0.0.1:80',
  '127.1.2.3',
  '[::1]',
  '[::1]:9',
  'a.localhost',
]
const FOREIGN = [
  ...[
    'evil.example',
    'evil.example:8787',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'notlocalhost',
  ],
  ...['10.0.0.1', '0.0.0.0', '[::2]:80', '128.0.0.1'],
]

describe('without `allowedHosts`', () => {
  it.each([...LOOPBACK, ...FOREIGN])('a program reaches it by %s', async host => {
    for (const production of [true, false])
      expect(await reaches({ host }, undefined, { production })).toBe(true)
  })

  it.each(LOOPBACK)('a page reaches it by %s', async host => {
    for (const production of [true, false])
      for (const ip of [undefined, '127.0.0.1', '203.0.113.7'])
        expect(await reaches({ host, isPage: true, ...(ip && { ip }) }, undefined, { production })).toBe(true)
  })

  it.each(FOREIGN)('a page of this machine does not reach it by %s', async host => {
    for (const production of [true, false])
      for (const ip of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
        expect(await reaches({ host, isPage: true, ip }, undefined, { production })).toBe(false)
  })

  it.each(FOREIGN)('a page of another machine reaches it by %s in production alone', async host => {
    const page = { host, isPage: true, ip: '203.0.113.7' }
    expect(await reaches(page, undefined, { production: true })).toBe(true)
    expect(await reaches(page, undefined, { production: false })).toBe(false)
    const unknown = { host, isPage: true }
    expect(await reaches(unknown, undefined, { production: true })).toBe(true)
    expect(await reaches(unknown, undefined, { production: false })).toBe(false)
  })

  it('a page reaches it by the name of `publicUrl`', async () => {
    const publicUrl = 'https://tools.example.com'
    for (const production of [true, false]) {
      const options = { production, publicUrl }
      const asPage = (host: string) => reaches({ host, isPage: true }, undefined, options)
      expect(await asPage('tools.example.com')).toBe(true)
      expect(await asPage('tools.example.com:443')).toBe(true)
      expect(await asPage('evil.example')).toBe(false)
      expect(await asPage('tools.example.com.evil.example')).toBe(false)
      expect(await asPage('localhost:8787')).toBe(true)
      expect(await reaches({ host: 'evil.example' }, undefined, options)).toBe(true)
    }
  })
})

describe('with `allowedHosts`', () => {
  const allowed = ['tools.example.com', 'other.example:8443', '[2001:db8::1]']

  it.each([
    ['tools.example.com', true],
    ['tools.example.com:8443', true],
    ['other.example:8443', true],
    ['[2001:db8::1]:80', true],
    ['localhost:8787', true],
    ['[::1]', true],
    ['other.example', false],
    ['other.example:80', false],
    ['tools.example.com.evil.example', false],
    ['x.tools.example.com', false],
    ['evil.example', false],
    ['10.0.0.1', false],
  ])('whoever asks for %s reaches it: %s', async (host, expected) => {
    for (const isPage of [true, false])
      for (const production of [true, false])
        expect(
          await reaches({ host, isPage }, allowed, { production, publicUrl: 'https://evil.example' }),
        ).toBe(expected)
  })

  it('that are none, only names of this machine do', async () => {
    expect(await reaches({ host: 'tools.example.com' }, [], {})).toBe(false)
    expect(await reaches({ host: 'localhost' }, [], {})).toBe(true)
  })
})

it('takes the host of the address where no header says it', async () => {
  const { handler } = serve({ tools: true, allowedHosts: ['tools.example.com'] })
  const init = jsonRequest({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const statusOf = async (url: string) => (await handler(new Request(url, init))).status
  expect(await statusOf('http://tools.example.com/mcp')).toBe(200)
  expect(await statusOf('http://evil.example/mcp')).toBe(403)
})
