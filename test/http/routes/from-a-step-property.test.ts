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
  | { readonly kind: 'step' | 'say' | 'ask' }
  | { readonly kind: 'all' | 'call' | 'inside'; readonly of: readonly Shape[] }

const { shape } = fc.letrec<{ shape: Shape }>(tie => ({
  shape: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.record({ kind: fc.constantFrom('step' as const, 'say' as const, 'ask' as const) }),
    fc.record({
      kind: fc.constantFrom('all' as const, 'call' as const, 'inside' as const),
      of: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
    }),
  ),
}))

/** How many acts there are. A run of n steps is begun again n² times, so the test takes small ones. */
const sizeOf = (shapes: readonly Shape[]): number =>
  shapes.reduce((sum, each) => sum + 1 + ('of' in each ? sizeOf(each.of) : 0), 0)

/** Runs of at most this many acts. */
const MAX_SIZE = 14

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
    if (each.kind === 'ask') return { ask: `q${crypto.randomUUID()}` }
    if (!('of' in each)) return stepOf()
    if (each.kind === 'call' && !isCalled) return { call: actsOf(each.of, counts, true) }
    if (each.kind !== 'all') return stepOf(each.of)
    return { all: each.of.map(inner => stepOf([inner])) }
  })
}

/** A service, and how its clients ask it. */
function open() {
  const { fetch } = restarting({ runs: { keepInput: true, keepJournal: true } })
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
    const init = { method, headers, body: body ? JSON.stringify(body) : null }
    return (await fetch(new Request(`http://127.0.0.1/api/${path}`, init))).json()
  }
  /** The runs from this one on, each with its answers. */
  const ended = async (first: string) => {
    const chain: RunRecord[] = []
    let id: string | undefined = first
    while (id !== undefined) {
      const at: string = id
      await eventually(async () =>
        expect((await ask<RunRecord>('GET', `runs/${at}`)).status).not.toBe('running'),
      )
      const record = await ask<RunRecord>('GET', `runs/${at}`)
      chain.push(record)
      id = undefined
      if (record.status !== 'input_required') break
      const answers = (record.requests ?? []).map(request => ({ id: request.id, value: 's7' }))
      expect(await ask('POST', `runs/${at}/answers`, { answers })).not.toHaveProperty('code')
      id = (await ask<RunRecord>('GET', `runs/${at}`)).continuedBy
    }
    return chain
  }
  /** The ids and names of the steps that a run has done. */
  const doneIn = async (run: string) => {
    const { events } = await ask<RunEventPage>('GET', `runs/${run}/events`)
    return events.flatMap(({ event }) =>
      event.type === 'step' && event.status === 'completed' ? [event] : [],
    )
  }
  return { ask, ended, doneIn }
}

const shapes = fc.array(shape, { minLength: 1, maxLength: 4 }).filter(each => sizeOf(each) <= MAX_SIZE)
const wordsOf = (chain: readonly RunRecord[]) =>
  chain.flatMap(({ result }) => result?.text.match(/[<>x]|s\d+/g) ?? []).sort()
it('gives what the run gave, after any of its steps, and does not do that again', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, async each => {
      const { ask, ended, doneIn } = open()
      const counts = new Map<string, string>()
      const acts = actsOf(each, counts)
      const { id } = await ask<RunRecord>('POST', 'workflows/journalled/run', doing(...acts))
      const chain = await ended(id)
      expect(chain.at(-1)?.status).toBe('completed')
      /** Goes on after each step of a run, and then once more after each of those that followed. */
      const branch = async (run: string, depth: number) => {
        for (const { id: from, name } of await doneIn(run)) {
          const times = () => countOf(counts.get(name) ?? '')
          const before = times()
          const { id: next } = await ask<RunRecord>('POST', `runs/${run}/retry`, { from })
          const again = await ended(next)
          expect([again.at(-1)?.status, again.at(-1)?.error]).toEqual(['completed', undefined])
          expect(again[0]?.retryOf).toBe(run)
          expect(wordsOf(again)).toEqual(wordsOf(chain))
          expect(times()).toBe(before)
          if (depth > 1) for (const each of again) await branch(each.id, depth - 1)
        }
      }
      for (const each of chain) await branch(each.id, 2)
    }),
    { numRuns: 12 },
  )
})
