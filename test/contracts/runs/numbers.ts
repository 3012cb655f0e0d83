/** Runs whose numbers are in their records: the service has `runs.measure`. */
import { expect, it } from 'vitest'
import type { RunRecord } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { expectProblem } from '../http/client.ts'
import { accept, as, ask, cancel, ended, list, own, post, type Server } from './client.ts'

const amount = expect.any(Number)

export function numberCases(server: Server): void {
  it('has its numbers in its record and in lists', async () => {
    const owner = as(own('owner'))
    const { id, ...begun } = await accept(server, 'agents/numbered', { input: 'x' }, owner)
    expect(begun.transport).toBe('http')
    const { result, requests: _, ...summary } = await ended(server, id, owner)
    const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5 }
    const numbers = { usage, cost: 0.7, toolCalls: 2, model: 'provider-m/m-1', transport: 'http' }
    expect(summary).toMatchObject({ ...numbers, durationMs: result?.durationMs, firstTextMs: amount })
    const { text } = await ask(server, `/api/runs/${id}/stream`, { headers: owner })
    expect(text).toContain(`"text":"said","at":${summary.firstTextMs}}`)
    await eventually(async () => expect((await list(server, '', owner)).runs).toEqual([summary]))
  })

  it('has those that are known if it fails or is cancelled', async () => {
    const owner = as(own('owner'))
    const { id } = await accept(server, 'agents/numbered', { input: 'fails' }, owner)
    const failed = await ended(server, id, owner)
    expect(failed).toMatchObject({
      status: 'failed',
      durationMs: amount,
      toolCalls: 2,
      model: 'provider-m/m-1',
    })
    for (const none of ['usage', 'cost', 'firstTextMs']) expect(failed).not.toHaveProperty(none)
    const waiting = await accept(server, 'agents/gated', { input: own('gate') }, owner)
    expect(waiting).not.toHaveProperty('durationMs')
    await cancel(server, waiting.id, owner)
    expect(await ended(server, waiting.id, owner)).toMatchObject({ durationMs: amount, toolCalls: 0 })
  })

  it('has its input if asked for it, without keys', async () => {
    const owner = as(own('owner'))
    const key = own('sk-key')
    const parts = [{ type: 'text', text: `is ${key} mine?` }]
    const { id } = await accept(server, 'agents/shown', { input: parts, apiKey: key }, owner)
    expect(await ended(server, id, owner)).not.toHaveProperty('input')
    const answer = await ask(server, `/api/runs/${id}?include=input`, { headers: owner })
    expect(JSON.parse(answer.text).input).toMatchObject([{ type: 'text' }])
    const other = await ask(server, `/api/runs/${id}?include=input`, { headers: as(own('other')) })
    await expectProblem(server, other, 404, 'run_not_found')
    const { text } = await ask(server, `/api/runs/${id}?include=input`, { headers: owner })
    expect(JSON.stringify(JSON.parse(text).input)).not.toContain(key)
  })

  it('says how it was asked for', async () => {
    const owner = as(own('owner'))
    const asked = await post(server, '/api/agents/echo/stream', { input: 'one' }, owner)
    const id = asked.headers.get('x-run-id') ?? ''
    const record: RunRecord = await ended(server, id, owner)
    expect(record).toMatchObject({ transport: 'sse', model: 'provider-a.chat/echo-1' })
    expect(record).not.toHaveProperty('cost')
    const json = await accept(
      server,
      'agents/echo',
      { input: 'one' },
      { ...owner, accept: 'text/event-stream' },
    )
    expect(json.transport).toBe('http')
    const again = await post(server, `/api/runs/${id}/retry`, {}, { ...owner, accept: 'text/event-stream' })
    const retried = again.headers.get('x-run-id') ?? ''
    expect(await ended(server, retried, owner)).toMatchObject({ transport: 'sse', retryOf: id })
  })
}
