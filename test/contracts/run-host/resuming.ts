import { expect, it } from 'vitest'
import { Fold } from '../../../src/agents/fold.ts'
import type { RunHost } from '../../../src/runs/stored/host.ts'
import type { RunRecord } from '../../../src/runs/stored/record.ts'
import { type JournalAct, journalled } from './journalled.ts'
import { type Begin, ending, eventsIn, type Hosted, read, unique, until, waitFor } from './kit.ts'

/** Starts the workflow. */
function start(host: RunHost, acts: readonly JournalAct[], given: Begin = {}): Promise<RunRecord> {
  const { owner = null, isBackground = true, options = {} } = given
  const target = { kind: 'workflow', name: 'journalled', servable: journalled } as const
  return host.start({ target, input: JSON.stringify(acts), options, owner, isBackground })
}

/** Answers the question `size` with `L`, and starts the run that goes on. Gives its id. */
async function answerSize(host: RunHost, id: string): Promise<string> {
  const next = crypto.randomUUID()
  const answered = await host.answer(id, null, [{ id: `${id}/size`, value: 'L' }], next)
  const { continues, input, options } = answered.next!
  const target = { kind: 'workflow', name: 'journalled', servable: journalled } as const
  await host.start({
    ...{ target, input, options: { ...options, runId: next } },
    ...{ owner: null, isBackground: true, continues },
  })
  return next
}

/** The answer that the events of a log tell. */
async function textOf(host: RunHost, id: string): Promise<string> {
  const fold = new Fold()
  for (const event of eventsIn(await read(host, id))) fold.add(event)
  return fold.text
}

export function resumeCases(hosted: Hosted): void {
  /** Starts, kills the worker once the count is reached, and lets the run end. */
  async function cut(acts: readonly JournalAct[], { at, gate }: { at: string; gate: string }) {
    const { host, restart, countOf, openGate } = hosted()
    const { id } = await start(host, acts)
    await waitFor(async () => (await countOf(at)) === 1)
    const restarted = await restart(id)
    // It is taken over before the step can end where it was.
    await restarted.get(id, null)
    await openGate(gate)
    const record = await ending(restarted, id)
    return { id, record, host: restarted, countOf }
  }

  it('gives recorded values, does what was not done, and tells its text once', async () => {
    const [done, at, gate] = [unique('done'), unique('at'), unique('gate')]
    const acts = [
      { say: 'A' },
      { step: 'one', count: done, say: 'B' },
      { say: 'C' },
      { step: 'two', say: 'D', count: at, gate },
      { say: 'E' },
    ]
    const { id, record, host, countOf } = await cut(acts, { at, gate })
    expect(record).toMatchObject({ status: 'completed', result: { text: 'ABCDE' } })
    expect(await countOf(done)).toBe(1)
    expect(await countOf(at)).toBe(2)
    expect(await textOf(host, id)).toBe('ABCDE')
    const types = eventsIn(await read(host, id)).map(({ type }) => type)
    expect(types.filter(type => type === 'resumed')).toHaveLength(1)
    expect(types.filter(type => type === 'finish')).toHaveLength(1)
    expect(record.result?.steps?.map(({ name }) => name)).toEqual(['one', 'two'])
  })

  it('goes on inside of an agent that it called', async () => {
    const [done, at, gate] = [unique('done'), unique('at'), unique('gate')]
    const call = [
      { step: 'one', count: done, say: 'x' },
      { step: 'two', count: at, gate, say: 'y' },
    ]
    const { record, countOf } = await cut([{ say: '1' }, { call }, { say: '2' }], { at, gate })
    expect(record.result?.text).toBe('1xy<xy>2')
    expect(await countOf(done)).toBe(1)
  })

  it('says again what a call that was done said, and knows its result', async () => {
    const [done, at, gate] = [unique('done'), unique('at'), unique('gate')]
    const acts = [{ call: [{ step: 'one', count: done, say: 'x' }] }, { step: 'two', count: at, gate }]
    const { record, countOf } = await cut(acts, { at, gate })
    expect(record.result?.text).toBe('x<x>')
    expect(await countOf(done)).toBe(1)
  })

  it('goes on with several at once: what one has done is not done again', async () => {
    const [done, at, gate] = [unique('done'), unique('at'), unique('gate')]
    const all = [
      { step: 'a', count: done },
      { step: 'b', count: at, gate, inside: [{ step: 'c' }] },
    ]
    const { host, countOf, openGate, restart } = hosted()
    const { id } = await start(host, [{ all }, { say: 'end' }])
    await waitFor(async () => (await countOf(at)) === 1 && (await countOf(done)) === 1)
    await until(host, id, 'running')
    const restarted = await restart(id)
    await restarted.get(id, null)
    await openGate(gate)
    expect(await ending(restarted, id)).toMatchObject({ status: 'completed', result: { text: 'end' } })
    expect(await countOf(at)).toBe(2)
  })

  it('goes on as often as it takes', async () => {
    const { host, countOf, openGate, restart } = hosted()
    const names = ['a', 'b', 'c'].map(unique)
    const gates = names.map(unique)
    const acts = names.map((count, index) => ({ step: count, count, gate: gates[index]!, say: `${index}` }))
    const { id } = await start(host, acts)
    let current = host
    for (const [index, count] of names.entries()) {
      await waitFor(async () => (await countOf(count)) === 1)
      current = await restart(id)
      await current.get(id, null)
      await waitFor(async () => (await countOf(count)) === 2)
      await openGate(gates[index]!)
    }
    expect(await ending(current, id)).toMatchObject({ status: 'completed', result: { text: '012' } })
    expect(await textOf(current, id)).toBe('012')
  })

  it('asks after it went on, and goes on with the answer', async () => {
    const [at, gate] = [unique('at'), unique('gate')]
    const { id, record, host } = await cut([{ step: 'one', count: at, gate }, { ask: 'size' }], { at, gate })
    expect(record).toMatchObject({ status: 'input_required' })
    const next = await answerSize(host, id)
    expect(await ending(host, next)).toMatchObject({ status: 'completed', result: { text: 'L.' } })
    expect(await hosted().countOf(at)).toBe(2)
  })

  it('says nothing again that was said before it was answered', async () => {
    const { host, restart, countOf, openGate } = hosted()
    const [before, done, at, gate] = ['before', 'done', 'at', 'gate'].map(unique) as [
      string,
      string,
      string,
      string,
    ]
    const acts = [
      ...[{ say: 'A' }, { step: 'one', count: before, say: 'B' }, { ask: 'size' }, { say: 'C' }],
      ...[{ step: 'two', count: done, say: 'D' }, { say: 'E' }, { step: 'three', count: at, gate }],
    ]
    const { id } = await start(host, acts)
    expect(await ending(host, id)).toMatchObject({ status: 'input_required', result: { text: 'AB' } })
    const next = await answerSize(host, id)
    await waitFor(async () => (await countOf(at)) === 1)
    const restarted = await restart(next)
    await restarted.get(next, null)
    await openGate(gate)
    expect(await ending(restarted, next)).toMatchObject({ status: 'completed', result: { text: 'L.CDE' } })
    expect([await countOf(before), await countOf(done), await countOf(at)]).toEqual([1, 1, 2])
    expect(await textOf(restarted, next)).toBe('L.CDE')
  })

  it('goes on after answers, and once more where it dies then', async () => {
    const { host, restart, countOf, openGate } = hosted()
    const [done, at, gate] = [unique('done'), unique('at'), unique('gate')]
    const acts = [{ ask: 'size' }, { step: 'one', count: done }, { step: 'two', count: at, gate }]
    const { id } = await start(host, acts)
    await until(host, id, 'input_required')
    const next = await answerSize(host, id)
    await waitFor(async () => (await countOf(at)) === 1)
    const restarted = await restart(next)
    await restarted.get(next, null)
    await openGate(gate)
    expect(await ending(restarted, next)).toMatchObject({ status: 'completed' })
    expect(await countOf(done)).toBe(1)
  })

  it('is interrupted where a client gave its key, and goes on where its owner gives one', async () => {
    const { host, countOf, openGate, restart } = hosted()
    const [done, at, gate, owner] = [unique('done'), unique('at'), unique('gate'), unique('owner')]
    const acts = [{ step: 'one', count: done }, { step: 'two', count: at, gate }, { say: 'end' }]
    const options = { apiKeys: { '*': 'a-key-of-the-client' }, identity: owner }
    const { id } = await start(host, acts, { owner, options })
    await waitFor(async () => (await countOf(at)) === 1)
    const restarted = await restart(id)
    await restarted.get(id, owner)
    await openGate(gate)
    expect(await ending(restarted, id, owner)).toMatchObject({
      ...{ status: 'failed', error: { code: 'interrupted' }, resumable: true },
    })
    const request = { next: crypto.randomUUID(), hasKey: false }
    const resume = (viewer: string | null, hasKey: boolean) =>
      restarted.resume(id, viewer, { ...request, hasKey })
    await expect(resume('someone else', true)).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(resume(owner, false)).rejects.toMatchObject({ code: 'key_required' })
    const { next } = await resume(owner, true)
    const again = await restarted.resume(id, owner, { next: crypto.randomUUID(), hasKey: true })
    expect(again.next.id).toBe(next.id)
    const target = { kind: 'workflow', name: 'journalled', servable: journalled } as const
    const { continues, input } = next
    await restarted.start({
      ...{ target, input, options: { ...next.options, runId: next.id } },
      ...{ owner, isBackground: true, continues },
    })
    expect(await ending(restarted, next.id, owner)).toMatchObject({
      ...{ status: 'completed', result: { text: 'end' }, continuedFrom: id },
    })
    expect(await countOf(done)).toBe(1)
    expect(await restarted.get(id, owner)).toMatchObject({ continuedBy: next.id })
  })

  it('cannot go on where it ended by itself, and not where a result is no JSON', async () => {
    const { host, countOf, restart } = hosted()
    const { id } = await start(host, [{ say: 'a' }])
    await ending(host, id)
    const resume = (one: string) => host.resume(one, null, { next: crypto.randomUUID(), hasKey: true })
    await expect(resume(id)).rejects.toMatchObject({ code: 'not_resumable' })
    const at = unique('at')
    const other = await start(host, [{ bigint: true }, { step: 'two', count: at, gate: unique('never') }])
    await waitFor(async () => (await countOf(at)) === 1)
    const restarted = await restart(other.id)
    const record = await ending(restarted, other.id)
    expect(record).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
    expect(record).not.toHaveProperty('resumable')
  })

  it('keeps no input that nobody asked for', async () => {
    const { host } = hosted()
    const { id } = await start(host, [{ say: 'a' }])
    await ending(host, id)
    await expect(host.asked(id, null)).rejects.toMatchObject({ code: 'input_not_kept' })
  })
}
