import { describe, expect, it } from 'vitest'
import { createHandler, type InputRequest, Registry } from '../../src/index.ts'
import { asking } from '../contracts/fixture/asking.ts'
import { notes } from '../contracts/fixture/record.ts'
import { clientOf, cutting, failure } from './kit.ts'

const handler = createHandler({ agents: asking, registry: new Registry(), logger: false })

/** A client of a service whose agents ask, over a network that loses what `lost` says. */
function open(lost: Parameters<typeof cutting>[1] = () => 'never') {
  return clientOf(cutting(request => handler(request), lost))
}

/** Starts a run that waits, and gives what for. */
async function waiting(name: string, input: string) {
  const client = open()
  const { runId, finishReason, requests = [] } = await client.agent(name).run(input)
  expect(finishReason).toBe('input_required')
  return { client, runId, requests, record: await client.runs.get(runId) }
}

describe('answers', () => {
  it('tell what is left, then the run that goes on', async () => {
    const order = crypto.randomUUID()
    const { client, runId, requests, record } = await waiting('orders', order)
    expect(record).toMatchObject({ status: 'input_required', requests })
    const [approval, size] = requests as readonly [InputRequest, InputRequest]
    const first = await client.runs.answer(runId, [{ id: size.id, value: 'M' }])
    const answeredBy = { at: expect.any(String), over: 'http' }
    const answered = [{ id: size.id, kind: 'question', answeredBy }]
    expect(first).toEqual({ record: { ...record, requests: [approval], answered }, next: undefined })
    const { next, record: goesOn } = await client.runs.answer(runId, [
      { id: approval.id, decision: 'approve', editedArgs: { order, amount: 1 } },
    ])
    expect(goesOn).toMatchObject({ id: next?.id, continuedFrom: runId })
    const { requests: more = [] } = (await next?.result()) ?? {}
    expect(more).toMatchObject([{ message: 'Which colour?' }])
    const last = await client.runs.answer(next?.id ?? '', [{ id: more[0]?.id ?? '', value: 'red' }])
    const events = []
    for await (const event of last.next?.stream() ?? []) events.push(event)
    expect(events).toMatchObject([{ type: 'text', text: 'refunded 1, M, red' }, { type: 'finish' }])
    expect(notes.filter(note => note.startsWith(order))).toEqual([`${order} refunded 1`])
  })

  it('are sent again where their answer was lost, and start one run', async () => {
    const order = crypto.randomUUID()
    const { runId, requests } = await waiting('refunds', order)
    let lost = 0
    const client = open(({ url }) => (url.endsWith('/answers') && lost++ < 3 ? 'answer' : 'never'))
    const given = [{ id: requests[0]?.id ?? '', decision: 'approve' }] as const
    const [one, other] = await Promise.all([
      client.runs.answer(runId, given),
      client.runs.answer(runId, given),
    ])
    expect(lost).toBeGreaterThan(3)
    expect(other.next?.id).toBe(one.next?.id)
    expect((await one.next?.result())?.text).toBe('Done: refunded 5.')
    expect(notes.filter(note => note.startsWith(order))).toEqual([`${order} refunded 5`])
  })

  it('fail with the code of the service', async () => {
    const { client, runId, requests } = await waiting('sizes', 'shirt')
    const id = requests[0]?.id ?? ''
    const code = async (run: string, answer: Parameters<typeof client.runs.answer>[1][number]) =>
      (await failure(client.runs.answer(run, [answer]))).code
    expect(await code(runId, { id, decision: 'approve' })).toBe('invalid_body')
    expect(await code(runId, { id: 'else', value: 'M' })).toBe('request_not_found')
    expect(await code(runId, { id, value: 'M', digest: 'else' })).toBe('request_changed')
    expect(await code('else', { id, value: 'M' })).toBe('run_not_found')
    await client.runs.answer(runId, [{ id, value: 'M' }])
    expect(await code(runId, { id, value: 'L' })).toBe('already_answered')
  })
})
