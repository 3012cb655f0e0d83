import { afterAll, beforeAll } from 'vitest'

/** Starts the server before the tests of a suite, and stops it after them. */
export function served<R extends { stop(): Promise<unknown> }>(start: () => Promise<R>): () => R {
  let running: R | undefined
  beforeAll(async () => {
    running = await start()
  })
  afterAll(() => running?.stop())
  return () => {
    if (running === undefined) throw new Error('the server has not started')
    return running
  }
}
