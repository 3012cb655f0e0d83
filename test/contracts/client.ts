/** What the client does on every runtime alike, against a real server and behind a proxy that cuts every connection. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { createService } from '../client/kit.ts'
import { type CuttingProxy, startCuttingProxy } from '../runtimes/cutting-proxy.ts'
import type { Exercise, Report } from './client/exercise.ts'
import { served } from './served.ts'

export interface ClientServer {
  /** Of the server itself, without a slash at its end. */
  url(): string
  /** Exercises, and looks at what came of it and at how often agents ran. */
  check(runs: number, exercise: (places: Exercise) => Promise<Report>): Promise<void>
}

/** Starts what the client asks, before the tests of a suite. `fallback` answers what is no route. */
export function clientServer(fallback?: (request: Request) => Promise<Response>): ClientServer {
  const service = createService({ cors: true, ...(fallback && { fallback }) })
  let server: RunningServer
  let proxy: CuttingProxy
  beforeAll(async () => {
    server = await serve(service.fetch, { port: 0 })
    proxy = await startCuttingProxy(server.url)
  })
  afterAll(async () => {
    await proxy?.stop()
    await server?.close()
  })
  return {
    url: () => server.url,
    async check(runs, exercise) {
      const began = service.notes.began
      const cuts = proxy.cuts()
      expect(await exercise({ direct: `${server.url}/api`, cut: `${proxy.url}/api`, runs })).toEqual({
        streams: runs,
        results: runs,
        left: ['cancelled', 'cancelled', 'cancelled'],
        reason: 'enough',
        code: 'agent_not_found',
        names: ['echo', 'counts', 'gated', 'fails', 'thinks'],
      })
      // Two uncut ones and three that were left; each of the others once, however often it was asked for.
      expect(service.notes.began - began).toBe(2 * runs + 5)
      expect(proxy.cuts() - cuts).toBeGreaterThan(runs)
    },
  }
}

/** The whole contract: what `start` starts answers `answerExercise` of `client/exercise.ts` at `path`. */
export function clientContract(
  { check }: ClientServer,
  start: () => Promise<{ url: string; stop(): Promise<void> }>,
  path = '/',
): void {
  const server = served(start)

  it('does the same', { timeout: 60_000 }, async () => {
    await check(20, async places => {
      const query = new URLSearchParams(Object.entries(places).map(([name, value]) => [name, `${value}`]))
      const response = await fetch(`${server().url}${path}?${query}`)
      const text = await response.text()
      expect(response.status, text).toBe(200)
      return JSON.parse(text)
    })
  })
}
