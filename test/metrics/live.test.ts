import { describe, expect, it } from 'vitest'
import { LiveFeed, sseOfViewer } from '../../src/metrics/live.ts'

describe('a viewer', () => {
  it('gets what happens from its first moment on, together where it is ready', async () => {
    const feed = new LiveFeed(2)
    feed.publish('"before"')
    const source = sseOfViewer(feed.watch())
    feed.publish('1')
    feed.publish('2')
    expect(await source.next()).toBe('id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n')
    const next = source.next()
    feed.publish('3')
    expect(await next).toBe('id: 3\ndata: 3\n\n')
  })

  it('that reads too slowly loses the oldest, and is told how many', async () => {
    const feed = new LiveFeed(2)
    const viewer = feed.watch()
    for (let event = 0; event < 1000; event++) feed.publish(String(event))
    const text = (await sseOfViewer(viewer).next()) ?? ''
    const [first, ...rest] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    expect(first).toMatchObject({ type: 'dropped', data: { count: 744 } })
    expect([rest.length, rest[0], rest.at(-1)]).toEqual([256, 744, 999])
  })

  it('is one of a bounded number, and makes room when it leaves', async () => {
    const feed = new LiveFeed(2)
    const sources = [sseOfViewer(feed.watch()), sseOfViewer(feed.watch())]
    expect(() => feed.watch()).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    const waiting = sources[0]!.next()
    sources[0]!.cancel()
    expect(await waiting).toBeUndefined()
    expect(feed.viewers).toBe(1)
    feed.watch()
  })
})
