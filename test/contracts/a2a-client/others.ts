/** All servers that the remote agents of the contract reach, in the process of the tests. */
import { afterAll, beforeAll } from 'vitest'
import { startCards } from './cards.ts'
import { hostile } from './hostile.ts'
import { startReference } from './reference.ts'
import { startServable } from './servable.ts'

/** Starts them before the tests of a file. Gives the settings of the service. */
export function others(): () => string {
  let settings = ''
  const stops: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    const [servable, reference] = [await startServable(), await startReference()]
    const servers = { servable: servable.url, reference: reference.url }
    const cards = await startCards(servers, hostile)
    settings = JSON.stringify({ cards: cards.url, ...servers })
    stops.push(servable.stop, reference.stop, cards.stop)
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
  })
  return () => settings
}
