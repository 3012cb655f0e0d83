/** How the keys of an issuer are fetched and kept. */
import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LogEntry } from '../../../src/index.ts'
import { type Issuer, newPair, startIssuer } from '../../contracts/jwt/issuer.ts'
import { listening } from '../../listening.ts'
import { service } from './kit.ts'

const MINUTE = 60_000
const CONFIGURATION = '/.well-known/openid-configuration'

let issuer: Issuer
beforeEach(async () => {
  issuer = await startIssuer()
})
afterEach(() => issuer.stop())

/** Moves the clock by which keys are kept, which never jumps. */
function clock(): (ms: number) => void {
  let aheadMs = 0
  const real = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => real() + aheadMs)
  onTestFinished(() => spy.mockRestore())
  return ms => {
    aheadMs += ms
  }
}

const warnings = (logged: readonly LogEntry[]) => logged.filter(({ level }) => level !== 'info')

describe('keys', () => {
  it('are fetched once for requests that come at once, and kept for ten minutes', async () => {
    const later = clock()
    const { ask } = service({ issuer: issuer.url })
    expect(issuer.asked.size).toBe(0)
    const token = await issuer.sign()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(token)))
    expect(new Set(answers)).toEqual(new Set(['200 by ada']))
    expect(issuer.keysFetched()).toBe(1)
    later(9 * MINUTE)
    expect(await ask(token)).toBe('200 by ada')
    expect(issuer.keysFetched()).toBe(1)
    later(2 * MINUTE)
    expect(await ask(token)).toBe('200 by ada')
    expect(issuer.keysFetched()).toBe(2)
  })

  it('may be at an address, without a configuration', async () => {
    const { ask } = service({ jwks: `${issuer.url}/jwks` })
    expect(await ask(await issuer.sign({ iss: 'anyone' }))).toBe('200 by ada')
    expect([...issuer.asked.keys()]).toEqual(['/jwks'])
  })

  it('that are new are found at once, then once a minute, and those that are gone are good no more', async () => {
    const later = clock()
    const { ask } = service({ issuer: issuer.url })
    const old = await issuer.sign()
    expect(await ask(old)).toBe('200 by ada')
    await issuer.rotate()
    expect(await ask(await issuer.sign())).toBe('200 by ada')
    expect(await ask(old)).toBe('401 unauthorized')
    expect(issuer.keysFetched()).toBe(2)
    await issuer.rotate()
    const newest = await issuer.sign()
    expect(await ask(newest)).toBe('401 unauthorized')
    later(MINUTE)
    expect(await ask(newest)).toBe('200 by ada')
    expect(issuer.keysFetched()).toBe(3)
  })

  it('are fetched once for 200 unknown names, in turn and at once', async () => {
    const { ask } = service({ issuer: issuer.url })
    const good = await issuer.sign()
    expect(await ask(good)).toBe('200 by ada')
    const forger = await newPair('ES256')
    const forged = await Promise.all(
      Array.from({ length: 200 }, (_, index) => issuer.sign({}, { kid: `unknown-${index}` }, forger)),
    )
    for (const token of forged.slice(0, 100)) expect(await ask(token)).toBe('401 unauthorized')
    const answers = await Promise.all(forged.slice(100).map(ask))
    expect(new Set(answers)).toEqual(new Set(['401 unauthorized']))
    expect(issuer.keysFetched()).toBe(2)
    expect(await ask(good)).toBe('200 by ada')
  })

  it('are fetched once where unknown names come first', async () => {
    const { ask } = service({ issuer: issuer.url })
    const forged = await issuer.sign({}, {}, await newPair())
    await Promise.all(Array.from({ length: 20 }, () => ask(forged)))
    expect(issuer.keysFetched()).toBe(1)
  })
})

describe('an issuer that is away', () => {
  it('lets nobody in until its keys were fetched, which is tried every five seconds', async () => {
    const later = clock()
    const { port, url } = issuer
    const token = await issuer.sign()
    await issuer.stop()
    const { ask, logged } = service({ issuer: url })
    for (let times = 0; times < 10; times++) expect(await ask(token)).toBe('401 unauthorized')
    const [warning, ...more] = warnings(logged)
    expect(warning).toMatchObject({
      level: 'warn',
      event: 'jwt.keys_failed',
      message: expect.stringContaining(`${url}${CONFIGURATION} cannot be fetched`),
      error: { cause: { code: 'ECONNREFUSED' } },
    })
    expect(more).toEqual([])
    expect(JSON.stringify(logged)).not.toContain(token)
    issuer = await startIssuer(port)
    const next = await issuer.sign()
    expect(await ask(next)).toBe('401 unauthorized')
    later(5000)
    expect(await ask(next)).toBe('200 by ada')
  })

  it('is not needed for a day, and then it is', async () => {
    const later = clock()
    const { ask, logged } = service({ issuer: issuer.url })
    const token = await issuer.sign()
    expect(await ask(token)).toBe('200 by ada')
    await issuer.stop()
    for (let hours = 0; hours < 23; hours++) {
      later(60 * MINUTE)
      for (const times of [1, 2]) expect(await ask(token), `${hours}, ${times}`).toBe('200 by ada')
    }
    expect(warnings(logged)).toHaveLength(23)
    later(61 * MINUTE)
    expect(await ask(token)).toBe('401 unauthorized')
  })

  it('may never answer: requests wait for five seconds', async () => {
    const silent = await listening(createServer(() => {}))
    onTestFinished(() => silent.stop())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask, logged } = service({ jwks: `${silent.url}/jwks` })
    const token = await issuer.sign()
    const answers = Promise.all([ask(token), ask(token)])
    await vi.advanceTimersByTimeAsync(5000)
    expect(await answers).toEqual(['401 unauthorized', '401 unauthorized'])
    expect(warnings(logged)).toMatchObject([{ message: 'The answer did not come in 5000 ms' }])
  })
})

describe('the service does not take', () => {
  const many = Array.from({ length: 101 }, () => ({ kty: 'RSA' }))
  type Case = readonly [name: string, path: string, body: (url: string) => unknown, reason: string]
  const CASES: readonly Case[] = [
    [
      'a configuration of another issuer',
      CONFIGURATION,
      url => ({ issuer: 'https://evil.example.com', jwks_uri: `${url}/jwks` }),
      'names another `issuer`',
    ],
    [
      'a configuration whose issuer has a slash more',
      CONFIGURATION,
      url => ({ issuer: `${url}/`, jwks_uri: `${url}/jwks` }),
      'names another `issuer`',
    ],
    ['a configuration without keys', CONFIGURATION, issuer => ({ issuer }), 'has no `jwks_uri`'],
    [
      'keys inside of the network',
      CONFIGURATION,
      issuer => ({ issuer, jwks_uri: 'http://169.254.169.254/jwks' }),
      'http://169.254.169.254/jwks cannot be fetched',
    ],
    [
      'keys in a file',
      CONFIGURATION,
      issuer => ({ issuer, jwks_uri: 'file:///etc/x' }),
      'file:///etc/x cannot',
    ],
    ['a page', CONFIGURATION, () => '<html>', 'cannot be fetched'],
    ['a list', CONFIGURATION, () => [], 'names another `issuer`'],
    ['too many bytes', '/jwks', () => ({ keys: [], padding: 'x'.repeat(300_000) }), '262144 bytes'],
    ['too many keys', '/jwks', () => ({ keys: many }), 'more than 100 keys'],
    ['what is no set', '/jwks', () => ({ keys: 'none' }), 'malformed'],
    ['null', '/jwks', () => 'null', 'malformed'],
    ['JSON that is too deep', '/jwks', () => '['.repeat(1000) + ']'.repeat(1000), '200'],
  ]

  it.each(CASES)('%s', async (_, path, body, reason) => {
    issuer.answer(path, body(issuer.url))
    const { ask, logged } = service({ issuer: issuer.url })
    expect(await ask(await issuer.sign())).toBe('401 unauthorized')
    const told = warnings(logged)
    expect(told).toMatchObject([{ level: 'warn', event: 'jwt.keys_failed' }])
    expect(JSON.stringify(told)).toContain(reason)
  })

  it.each([302, 404, 500])('the status %i', async status => {
    issuer.answer('/jwks', { keys: [issuer.pair.jwk] }, status)
    const { ask, logged } = service({ issuer: issuer.url })
    expect(await ask(await issuer.sign())).toBe('401 unauthorized')
    expect(JSON.stringify(warnings(logged))).toContain(`It answered ${status}`)
  })

  it('a wrong set in place of a good one', async () => {
    const later = clock()
    const { ask } = service({ issuer: issuer.url })
    const token = await issuer.sign()
    expect(await ask(token)).toBe('200 by ada')
    issuer.answer('/jwks', { keys: many })
    later(11 * MINUTE)
    expect(await ask(token)).toBe('200 by ada')
    expect(issuer.keysFetched()).toBe(2)
  })

  it('an issuer that is not public, unless it is allowed', async () => {
    const { ask, logged } = service({ issuer: issuer.url, allow: [] })
    expect(await ask(await issuer.sign())).toBe('401 unauthorized')
    expect(JSON.stringify(warnings(logged))).toContain('address_refused')
    expect(issuer.asked.size).toBe(0)
  })
})
