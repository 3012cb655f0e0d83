import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drain, untimed } from '../support.ts'
import { type Cut, clientOf, createService, cutting } from './kit.ts'

const cut: fc.Arbitrary<Cut> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<Cut>('never', 'before', 'answer') },
  { weight: 4, arbitrary: fc.record({ bytes: fc.nat(3000), closes: fc.boolean() }) },
)

/** Cuts as the list says, one after another, and begins again; a list that only cuts lets the last one through. */
function cutsOf(cuts: readonly Cut[]): () => Cut {
  let index = 0
  const enough: Cut[] = [...cuts, { bytes: 2000, closes: false }, 'never']
  return () => enough[index++ % enough.length]!
}

const COUNT = 60

describe('a client whose connections are cut anywhere', () => {
  const service = createService()
  const uncut = async () => {
    const events = await drain(clientOf(service.fetch).agent('counts').stream(`${COUNT}`))
    expect(events).toHaveLength(COUNT + 1)
    return events.map(untimed)
  }

  it('gives the events of an uncut stream, and runs once', async () => {
    const whole = await uncut()
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 12 }), async cuts => {
        const { began } = service.notes
        const client = clientOf(cutting(service.fetch, cutsOf(cuts)), { maxTries: 30 })
        const stream = client.agent('counts').stream(`${COUNT}`)
        expect((await drain(stream)).map(untimed)).toEqual(whole)
        expect(stream.lastEventId).toBe(COUNT + 1)
        expect((await stream.result()).usage.completionTokens).toBe(COUNT)
        expect(service.notes.began).toBe(began + 1)
      }),
      { numRuns: 200 },
    )
  })

  it('gives the result of an uncut run, and runs once', async () => {
    const { text } = await clientOf(service.fetch).agent('counts').run(`${COUNT}`)
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 12 }), async cuts => {
        const { began } = service.notes
        const client = clientOf(cutting(service.fetch, cutsOf(cuts)), { maxTries: 30 })
        expect(await client.agent('counts').run(`${COUNT}`)).toMatchObject({ text, finishReason: 'stop' })
        expect(service.notes.began).toBe(began + 1)
      }),
      { numRuns: 200 },
    )
  })
})
