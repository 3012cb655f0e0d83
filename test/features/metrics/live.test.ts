import { describe, expect, it } from 'vitest'
import { MetricsCore } from '../../../src/features/metrics/core.ts'
import { LiveFeed, sseOfViewer } from '../../../src/features/metrics/live.ts'
import type { Observer } from '../../../src/runs/observer.ts'

/** Watches from now on. */
function watched(feed: LiveFeed) {
  const viewer = feed.watch()
  return sseOfViewer(async () => viewer)
}

describe('a viewer', () => {
  it('gets what happens from its first moment on, together where it is ready', async () => {
    const feed = new LiveFeed()
    feed.publish('"before"')
    const source = watched(feed)
    feed.publish('1')
    feed.publish('2')
    expect(await source.next()).toBe('id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n')
    const next = source.next()
    feed.publish('3')
    expect(await next).toBe('id: 3\ndata: 3\n\n')
  })

  it('that reads too slowly loses the oldest, and is told how many', async () => {
    const feed = new LiveFeed()
    const viewer = feed.watch()
    for (let event = 0; event < 1000; event++) feed.publish(String(event))
    const text = (await sseOfViewer(async () => viewer).next()) ?? ''
    const [first, ...rest] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    expect(first).toMatchObject({ type: 'dropped', data: { count: 744 } })
    expect([rest.length, rest[0], rest.at(-1)]).toEqual([256, 744, 999])
  })

  it('is told of what was dropped elsewhere', async () => {
    const feed = new LiveFeed()
    const source = watched(feed)
    feed.drop(5)
    expect(await source.next()).toContain('"count":5')
  })

  it('leaves nothing behind, also where it was never read', async () => {
    const feed = new LiveFeed()
    const source = watched(feed)
    const waiting = source.next()
    source.cancel()
    expect(await waiting).toBeUndefined()
    expect(feed.viewers).toBe(0)
    sseOfViewer(async () => feed.watch()).cancel()
    expect(feed.viewers).toBe(0)
  })
})

it('has the ends of hurried runs handed over soon, and those of others when there is time', () => {
  const core = new MetricsCore({ pricing: {}, maxNames: 10 })
  const changed: (boolean | undefined)[] = []
  core.connect(() => ({
    changed: isHurried => void changed.push(isHurried),
    snapshot: () => Promise.reject(new Error('not asked for')),
    history: () => Promise.reject(new Error('not asked for')),
  }))
  const servable = { run: () => Promise.reject() }
  const run = {
    kind: 'agent',
    name: 'a',
    servable,
    runId: 'run',
    input: '',
    sessionId: undefined,
    traceparent: undefined,
    redact: (text: string) => text,
    owner: null,
    requestId: undefined,
    transport: undefined,
  } as const
  const end = (observer: Pick<Observer, 'start'>) =>
    observer.start?.(run)?.end?.({ type: 'finish', finishReason: 'stop' }, 1)
  end(core)
  end(core.hurried(undefined))
  end(core)
  expect(changed).toEqual([false, true, false])
})
