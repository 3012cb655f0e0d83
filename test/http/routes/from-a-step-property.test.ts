/** Runs of any shape that go on after each of their steps. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RunEventPage } from '../../../src/client/index.ts'
import type { RunRecord } from '../../../src/index.ts'
import { doing, restarting } from '../../contracts/fixture/restarting.ts'
import type { JournalAct, StepAct } from '../../contracts/run-host/journalled.ts'
import { countOf } from '../../contracts/run-host/scripted.ts'
import { eventually } from '../../eventually.ts'

/** A shape: steps by their names, which the test makes. */
type Shape =
  | { readonly kind: 'step' | 'say' }
  | { readonly kind: 'all' | 'call' | 'inside'; readonly of: readonly Shape[] }

const { shape } = fc.letrec<{ shape: Shape }>(tie => ({
  shape: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.record({ kind: fc.constantFrom('step' as const, 'say' as const) }),
    fc.record({
      kind: fc.constantFrom('all' as const, 'call' as const, 'inside' as const),
      of: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
    }),
  ),
}))

/** The acts of shapes, with a name and a counter for each step. An agent that is called calls no other. */
function actsOf(shapes: readonly Shape[], counts: Map<string, string>, isCalled = false): JournalAct[] {
  const stepOf = (inside?: readonly Shape[]): StepAct => {
    const step = `s${counts.size}`
    const count = crypto.randomUUID()
    counts.set(step, count)
    return { step, count, say: `${step} `, ...(inside && { inside: actsOf(inside, counts, isCalled) }) }
  }
  return shapes.map(each => {
    if (each.kind === 'say') return { say: 'x ' }
    if (each.kind === 'step') return stepOf()
    if (each.kind === 'call' && !isCalled) return { call: actsOf(each.of, counts, true) }
    if (each.kind !== 'all') return stepOf(each.of)
    return { all: each.of.map(inner => stepOf([inner])) }
  })
}

it('gives what the run gave, after any of its steps, and does not do that again', async () => {
  const { fetch } = restarting({ runs: { keepInput: true, keepJournal: true } })
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
    const init = { method, headers, body: body ? JSON.stringify(body) : null }
    return (await fetch(new Request(`http://127.0.0.1/api/${path}`, init))).json()
  }
  const ended = async (id: string) => {
    await eventually(async () =>
      expect((await ask<RunRecord>('GET', `runs/${id}`)).status).not.toBe('running'),
    )
    return ask<RunRecord>('GET', `runs/${id}`)
  }
  const wordsOf = ({ result }: RunRecord) => result?.text.match(/[<>x]|s\d+/g)?.sort()
  await fc.assert(
    fc.asyncProperty(fc.array(shape, { minLength: 1, maxLength: 4 }), async shapes => {
      const counts = new Map<string, string>()
      const acts = actsOf(shapes, counts)
      const { id } = await ask<RunRecord>('POST', 'workflows/journalled/run', doing(...acts))
      const first = await ended(id)
      expect(first.status).toBe('completed')
      const { events } = await ask<RunEventPage>('GET', `runs/${id}/events`)
      for (const { event } of events) {
        if (event.type !== 'step' || event.status !== 'completed') continue
        const times = () => countOf(counts.get(event.name) ?? '')
        const before = times()
        const next = await ask<RunRecord>('POST', `runs/${id}/retry`, { from: event.id })
        const last = await ended(next.id)
        expect(last).toMatchObject({ status: 'completed', retryOf: id })
        expect(wordsOf(last)).toEqual(wordsOf(first))
        expect(times()).toBe(before)
      }
    }),
    { numRuns: 60 },
  )
})
