import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Answer } from '../../../src/index.ts'
import type { RunHost, Viewer } from '../../../src/runs/stored/host.ts'
import type { RunRecord } from '../../../src/runs/stored/record.ts'
import type { AnsweredRun, WaitingRun } from '../../../src/runs/waiting/waiting.ts'
import { begin, ending, eventsIn, type Hosted, listAll, read, unique, until } from './kit.ts'
import { type Act, question, scripted } from './scripted.ts'

/** How a run comes to wait. */
type Waits = (host: RunHost, acts: readonly Act[], owner?: Viewer) => Promise<string>

/** A stored run that ends with requests. */
const stored: Waits = async (host, acts, owner = null) => {
  const { id } = await begin(host, acts, { owner })
  await ending(host, id, owner)
  return id
}

/** A plain run that ended with requests, and is kept from then on. */
export const kept: Waits = async (host, acts, owner = null) => {
  const id = randomUUID()
  await host.keep(waitingRun(id, acts, owner))
  return id
}

export function waitingRun(id: string, acts: readonly Act[], owner: Viewer): WaitingRun {
  const names = acts.flatMap(act => ('ask' in act ? act.ask : []))
  const requests = names.map(name => question(id, name))
  return {
    id,
    owner,
    event: { type: 'finish', finishReason: 'input_required', requests },
    waiting: {
      target: { kind: 'agent', name: 'scripted' },
      input: JSON.stringify(acts),
      // Of its own: runs of one session wait for each other.
      options: { sessionId: `session-${id}`, userId: 'ada', ...(owner !== null && { identity: owner }) },
      requests,
      answers: [],
      work: { done: [], answered: [], states: { own: 1 } },
    },
  }
}

/** Answers with numbers, by name. */
export function answer(
  host: RunHost,
  id: string,
  values: Values,
  { owner = null, next = randomUUID() }: { owner?: Viewer; next?: string } = {},
): Promise<AnsweredRun> {
  const answers = Object.entries(values).map(([name, value]): Answer => ({ id: `${id}/${name}`, value }))
  return host.answer(id, owner, answers, next)
}

/** Starts what goes on, as whoever has given the last answer does. */
export function goOn(
  host: RunHost,
  { next }: Pick<AnsweredRun, 'next'>,
  owner: Viewer = null,
): Promise<RunRecord> {
  if (next === undefined) throw new Error('something is left to be answered')
  const { id, input, options, continues } = next
  const target = { kind: 'agent', name: 'scripted', servable: scripted } as const
  const given = { target, input, options: { ...options, runId: id }, owner, continues }
  return host.start({ ...given, isBackground: true })
}

const ask = (...names: string[]): Act => ({ ask: names })

export function answerCases(hosted: Hosted): void {
  describe.each<[string, Waits]>([
    ['a stored run', stored],
    ['a plain run that is kept', kept],
  ])('of %s', (_, waits) => {
    lifeCases(hosted, waits)
    refusalCases(hosted, waits)
    restartCases(hosted, waits)
  })
  keepCases(hosted)
  endedCases(hosted)
}

function lifeCases(hosted: Hosted, waits: Waits): void {
  it('are answered bit by bit, and the last answer lets it go on', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const id = await waits(host, [ask('a', 'b', 'c')], owner)
    const before = await host.get(id, owner)
    expect(before).toMatchObject({ id, status: 'input_required', finishReason: 'input_required' })
    expect(before.requests).toEqual(['a', 'b', 'c'].map(each => question(id, each)))
    const first = await answer(host, id, { b: 2 }, { owner })
    expect(first.next).toBeUndefined()
    expect(first.record.requests?.map(({ message }) => message)).toEqual(['a', 'c'])
    expect(await host.get(id, owner)).toEqual(first.record)
    const next = randomUUID()
    const last = await answer(host, id, { c: 3, a: 1 }, { owner, next })
    expect(last.record).toMatchObject({ id, status: 'input_required', continuedBy: next })
    expect(last.record).not.toHaveProperty('requests')
    expect(last.next).toMatchObject({
      id: next,
      target: { kind: 'agent', name: 'scripted' },
      continues: { from: id, work: { first: id } },
    })
    await goOn(host, last, owner)
    const record = await ending(host, next, owner)
    expect(record).toMatchObject({ id: next, status: 'completed', continuedFrom: id })
    expect(record.result?.text).toBe('2,3,1')
    const after = await host.get(id, owner)
    expect([after.continuedBy, after.requests]).toEqual([next, undefined])
    const listed = await listAll(host, owner, { limit: 10 })
    expect(new Set(listed.map(run => run.id))).toEqual(new Set([id, next]))
    expect(listed.find(run => run.id === id)).toMatchObject({ status: 'input_required', continuedBy: next })
  })

  it('take the same answers again: the same run goes on, and once', async () => {
    const { host, countOf } = hosted()
    const count = unique('count')
    const id = await waits(host, [ask('a', 'b'), { count }])
    await answer(host, id, { a: 1 })
    expect((await answer(host, id, { a: 1 })).next).toBeUndefined()
    const last = await answer(host, id, { b: 2 })
    for (const values of [{ b: 2 }, { a: 1 }, { a: 1, b: 2 }]) {
      const again = await answer(host, id, values)
      expect(again).toEqual(last)
      await goOn(host, again)
    }
    await ending(host, last.next?.id ?? '')
    await goOn(host, await answer(host, id, { b: 2 }))
    expect(await countOf(count)).toBe(1)
  })
}

function refusalCases(hosted: Hosted, waits: Waits): void {
  it('refuse another answer, before the last one and after it', async () => {
    const { host } = hosted()
    const id = await waits(host, [ask('a', 'b')])
    await answer(host, id, { a: 1 })
    const again = { code: 'already_answered' }
    await expect(answer(host, id, { a: 2 })).rejects.toMatchObject(again)
    await expect(answer(host, id, { b: 2, a: 2 })).rejects.toMatchObject(again)
    expect((await host.get(id, null)).requests).toHaveLength(1)
    await answer(host, id, { b: 2 })
    await expect(answer(host, id, { b: 3 })).rejects.toMatchObject(again)
  })

  it.each<[string, string, (id: string) => Answer]>([
    ['an id that was not asked', 'request_not_found', id => ({ id: `${id}/z`, value: 1 })],
    ['an id of another run', 'request_not_found', () => ({ id: `${randomUUID()}/b`, value: 1 })],
    ['another kind of answer', 'invalid_body', id => ({ id: `${id}/b`, decision: 'approve' })],
    ['a value that misfits', 'invalid_body', id => ({ id: `${id}/b`, value: 'x' })],
    ['the digest of another', 'request_changed', id => ({ id: `${id}/b`, value: 1, digest: 'e' })],
  ])('count all or none: %s', async (_, code, wrong) => {
    const { host } = hosted()
    const id = await waits(host, [ask('a', 'b')])
    const right: Answer = { id: `${id}/a`, value: 1 }
    for (const answers of [
      [right, wrong(id)],
      [wrong(id), right],
    ]) {
      await expect(host.answer(id, null, answers, randomUUID())).rejects.toMatchObject({ code })
    }
    expect((await host.get(id, null)).requests).toHaveLength(2)
  })

  it('are not there for anyone else', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const id = await waits(host, [ask('a')], owner)
    for (const viewer of [null, unique('owner'), '']) {
      const notFound = { code: 'run_not_found' }
      await expect(host.get(id, viewer)).rejects.toMatchObject(notFound)
      await expect(answer(host, id, { a: 1 }, { owner: viewer })).rejects.toMatchObject(notFound)
      await expect(answer(host, id, { z: 1 }, { owner: viewer })).rejects.toMatchObject(notFound)
    }
    expect((await host.get(id, owner)).requests).toHaveLength(1)
  })
}

function restartCases(hosted: Hosted, waits: Waits): void {
  it('outlive a restart between question and answer', async () => {
    const { host, restart } = hosted()
    const id = await waits(host, [ask('a', 'b')])
    await answer(host, id, { a: 1 })
    const restarted = await restart(id)
    expect((await restarted.get(id, null)).requests).toMatchObject([{ message: 'b' }])
    const last = await answer(restarted, id, { b: 2 })
    await goOn(restarted, last)
    expect((await ending(restarted, last.next?.id ?? '')).result?.text).toBe('1,2')
  })

  it('let a run go on whose start was lost in a restart', async () => {
    const { host, restart, countOf } = hosted()
    const count = unique('count')
    const id = await waits(host, [ask('a'), { count }])
    const lost = await answer(host, id, { a: 1 })
    const restarted = await restart(id)
    const again = await answer(restarted, id, { a: 1 })
    expect(again).toEqual(lost)
    await goOn(restarted, again)
    expect((await ending(restarted, again.next?.id ?? '')).status).toBe('completed')
    expect(await countOf(count)).toBe(1)
  })

  it('do not start again what a restart has interrupted', async () => {
    const { host, restart, countOf } = hosted()
    const count = unique('count')
    const id = await waits(host, [ask('a'), { count }, { gate: unique('never') }])
    const last = await answer(host, id, { a: 1 })
    const next = (await goOn(host, last)).id
    await expect.poll(() => countOf(count), { timeout: 30_000 }).toBe(1)
    const restarted = await restart(next)
    await until(restarted, next, 'failed')
    const again = await answer(restarted, id, { a: 1 })
    expect(await goOn(restarted, again)).toMatchObject({ id: next, error: { code: 'interrupted' } })
    expect(await countOf(count)).toBe(1)
  })
}

function keepCases(hosted: Hosted): void {
  it('of a plain run have a record without what it said', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const id = await kept(host, [ask('a')], owner)
    const record = await host.get(id, owner)
    expect(record).toMatchObject({
      sessionId: `session-${id}`,
      userId: 'ada',
      name: 'scripted',
      kind: 'agent',
    })
    expect(record).not.toHaveProperty('result')
    expect(await ending(host, id, owner)).toEqual(record)
    expect(eventsIn(await read(host, id, 0, owner))).toEqual([waitingRun(id, [ask('a')], owner).event])
    expect((await host.list(owner, { status: 'running', limit: 10 })).runs).toEqual([])
    const { next } = await answer(host, id, { a: 1 }, { owner })
    expect(next).toMatchObject({
      options: { sessionId: `session-${id}`, userId: 'ada', identity: owner },
      continues: { work: { states: { own: 1 } } },
    })
  })
}

function endedCases(hosted: Hosted): void {
  it('take no answer once the run was cancelled', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const id = await kept(host, [ask('a')], owner)
    await expect(host.cancel(id, unique('other'))).rejects.toMatchObject({ code: 'run_not_found' })
    expect(await host.cancel(id, owner)).toMatchObject({ status: 'cancelled', finishReason: 'cancelled' })
    expect(await host.cancel(id, owner)).toMatchObject({ status: 'cancelled' })
    expect(await host.get(id, owner)).not.toHaveProperty('requests')
    await expect(answer(host, id, { a: 1 }, { owner })).rejects.toMatchObject({ code: 'run_ended' })
  })

  it('keep a run that goes on from being cancelled', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const id = await kept(host, [ask('a')], owner)
    await answer(host, id, { a: 1 }, { owner })
    await expect(host.cancel(id, owner)).rejects.toMatchObject({ code: 'run_ended' })
  })

  it('are those of a run that waits: none other takes answers', async () => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const ended = { code: 'run_ended' }
    const { id } = await begin(host, [{ gate }])
    await expect(answer(host, id, { a: 1 })).rejects.toMatchObject(ended)
    await openGate(gate)
    await ending(host, id)
    await expect(answer(host, id, { a: 1 })).rejects.toMatchObject(ended)
    const { id: silent } = await begin(host, [{ finish: { finishReason: 'input_required' } }])
    await ending(host, silent)
    await expect(answer(host, silent, { a: 1 })).rejects.toMatchObject(ended)
    await expect(answer(host, randomUUID(), { a: 1 })).rejects.toMatchObject({ code: 'run_not_found' })
  })
}

type Values = Readonly<Record<string, unknown>>

/** What came of two who answer at the same instant. */
interface Raced {
  /** Ids of what goes on, codes of errors, or that it still waits. */
  readonly ends: readonly string[]
  readonly next: string | undefined
}

/** What each of the two says, and what may come of it. */
const RACES: readonly { readonly says: readonly Values[]; readonly may: (raced: Raced) => void }[] = [
  // The same.
  {
    says: [
      { a: 1, b: 2 },
      { a: 1, b: 2 },
    ],
    may: ({ ends, next }) => expect(ends).toEqual([next, next]),
  },
  // Something else.
  {
    says: [
      { a: 1, b: 2 },
      { a: 1, b: 3 },
    ],
    may: ({ ends, next }) => expect(new Set(ends)).toEqual(new Set([next, 'already_answered'])),
  },
  // A part each: who comes first is told what is left.
  {
    says: [{ a: 1 }, { b: 2 }],
    may: ({ ends, next }) => expect(new Set(ends)).toEqual(new Set(['waits', next])),
  },
  // A part, and another one of it.
  {
    says: [{ a: 1 }, { a: 2, b: 2 }],
    may: ({ ends, next }) => {
      expect(ends).toContain('already_answered')
      expect(ends).toContain(next ?? 'waits')
    },
  },
]

/** Lets two answer at the same instant, and start what goes on. */
async function race(host: RunHost, round: number) {
  const { says, may } = RACES[round % RACES.length]!
  const waits = round % 3 === 0 ? stored : kept
  const count = unique('count')
  const id = await waits(host, [ask('a', 'b'), { count }])
  const ends = await Promise.all(
    says.map(async values => {
      try {
        const answered = await answer(host, id, values)
        return answered.next === undefined ? 'waits' : (await goOn(host, answered)).id
      } catch (error) {
        return (error as { code: string }).code
      }
    }),
  )
  const { continuedBy: next, requests } = await host.get(id, null)
  const text = next && (await ending(host, next)).result?.text
  const left = requests?.map(({ message }) => message)
  return { count, raced: { ends, next }, may, text, left }
}

/** What waits on is told, and what goes on has the answers. */
function expectAfter({ text, left }: { text: string | undefined; left: unknown }, { next }: Raced): void {
  const waits = { text: undefined, left: ['b'] }
  const goesOn = { text: expect.stringMatching(/^[12],[123]$/), left: undefined }
  expect({ text, left }).toEqual(next === undefined ? waits : goesOn)
}

/** So many times, a few at once. */
export function answerRaceCases(hosted: Hosted, count: number): void {
  it(`let one run go on, ${count.toLocaleString('en')} times`, async () => {
    const { host, countOf } = hosted()
    for (let round = 0; round < count; round += 25) {
      const batch = Array.from({ length: 25 }, (_, index) => race(host, round + index))
      for (const { count, raced, may, ...after } of await Promise.all(batch)) {
        may(raced)
        expect(await countOf(count)).toBe(raced.next === undefined ? 0 : 1)
        expectAfter(after, raced)
      }
    }
  }, 300_000)
}
