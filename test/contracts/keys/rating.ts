/** Keys have rates of their own. */
import { expect, it } from 'vitest'
import { clientOf as socketOf, stock } from '../gateway/client.ts'
import { bearer, change, issue, run, type Server, short } from './client.ts'

export function ratingCases(server: Server): void {
  requestRatingCases(server)
  socketRatingCases(server)
}

export function requestRatingCases(server: Server): void {
  it('refuses requests past the rate of a key, and those of no other', async () => {
    const rate = { max: 2, windowMs: 3_600_000 }
    const owner = 'ada'
    const issued = await issue(server, { owner, rate })
    const other = await issue(server, { owner, rate })
    const first = await run(server, issued.key)
    expect(first.headers.get('ratelimit')).toMatch(/^"default";r=1;t=\d+$/)
    expect(short(await run(server, issued.key))).toBe('200')
    const past = await run(server, issued.key)
    expect(short(past)).toBe('429 rate_limited')
    expect(Number(past.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(short(await run(server, other.key))).toBe('200')
    await change(server, issued, { rate: { max: 3 } })
    expect(short(await run(server, issued.key))).toBe('200')
  })
}

function socketRatingCases(server: Server): void {
  it('counts what a socket runs', async () => {
    const issued = await issue(server, { rate: { max: 4, windowMs: 3_600_000 } })
    const client = socketOf(
      stock(server, { extraHeaders: { ...bearer(issued.key) }, transports: ['websocket'] }),
    )
    // The connection counts as a request.
    const codes = new Set<unknown>()
    for (let at = 0; at < 5; at++) {
      const ack = await client.ask('agent.run', { name: 'says', input: 'hi' })
      codes.add('code' in ack ? ack.code : 'ran')
    }
    expect(codes).toEqual(new Set(['ran', 'rate_limited']))
    expect(short(await run(server, issued.key))).toBe('429 rate_limited')
  })
}
