/** The client contract for every runtime, against a real server and through a proxy that cuts every connection. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { createService } from '../client/kit.ts'
import { type CuttingProxy, startCuttingProxy } from '../runtimes/cutting-proxy.ts'
import type { Exercise, Report } from './client/exercise.ts'
import { served } from './served.ts'

export interface ClientServer {
  /** The address of the server itself, without a slash at the end. */
  url(): string
  /** Runs an exercise, and checks its report and the number of runs. */
  check(runs: number, exercise: (places: Exercise) => Promise<Report>): Promise<void>
}

/** Starts the server before the tests of a suite. `fallback` answers paths without a route. */
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
        names: ['echo', 'counts', 'gated', 'calls', 'fails', 'heard', 'thinks'],
      })
      // Two uncut runs, three that were left, and each other run once, despite repeated requests.
      expect(service.notes.began - began).toBe(2 * runs + 5)
      expect(proxy.cuts() - cuts).toBeGreaterThan(runs)
    },
  }
}

/** The whole contract. The server that `start` starts answers `path` with `answerExercise` of `client/exercise.ts`. */
export function clientContract(
  { check }: ClientServer,
  start: () => Promise<{ url: string; stop(): Promise<void> }>,
  path = '/',
): void {
  const server = served(start)

  it('does the same', { timeout: 300_000 }, async () => {
    await check(20, async places => {
      const query = new URLSearchParams(Object.entries(places).map(([name, value]) => [name, `${value}`]))
      const response = await fetch(`${server().url}${path}?${query}`)
      const text = await response.text()
      expect(response.status, text).toBe(200)
      return JSON.parse(text)
    })
  })
}
