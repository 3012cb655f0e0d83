/** Approvals that nobody decides in time. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { expectProblem } from '../http/client.ts'
import { list } from '../runs/client.ts'
import { as, asked, bobOf, decide, get, inbox, own, post, type Server, wentOn } from './client.ts'

export function refusingCases(server: Server): void {
  it('fails the run, and refuses what comes later', async () => {
    const waiting = await asked(server)
    const { ann, id } = waiting
    expect(await inbox(server, ann)).toHaveLength(1)
    await eventually(async () => expect((await list(server, '', as(ann))).runs[0]?.status).toBe('failed'))
    const record = await get(server, id, as(ann))
    expect(record).toMatchObject({ status: 'failed', error: { code: 'approval_expired' } })
    for (const name of ['requests', 'result', 'finishReason', 'continuedBy']) {
      expect(record).not.toHaveProperty(name)
    }
    for (const who of [ann, bobOf(waiting)]) {
      await expectProblem(server, await decide(server, waiting, who), 409, 'approval_expired')
    }
    await expectProblem(server, await decide(server, waiting, own('carol')), 404, 'run_not_found')
    expect((await list(server, '', as(ann))).runs).toHaveLength(1)
    await eventually(async () => expect(await inbox(server, ann)).toEqual([]))
  })

  it('lets a question wait whose approval was decided in time', async () => {
    const waiting = await asked(server, 'x', { name: 'orders' })
    const [, question] = waiting.requests
    await decide(server, waiting, bobOf(waiting))
    const later = await asked(server)
    await eventually(async () => {
      expect((await get(server, later.id, as(later.ann))).status).toBe('failed')
    })
    const answers = [{ id: question?.id, value: 'M' }]
    const { text } = await post(server, `/api/runs/${waiting.id}/answers`, { answers }, as(waiting.ann))
    expect(JSON.parse(text).text).toBe('paid 5 in M')
  })
}

export function continuingCases(server: Server): void {
  it('denies the call, and the run goes on', async () => {
    const waiting = await asked(server)
    const { result } = await wentOn(server, waiting)
    expect(result?.text).toContain('not paid')
    expect(result?.text).toContain('The approval has expired')
    const { runs } = await list(server, '', as(waiting.ann))
    expect(runs).toHaveLength(2)
    await expectProblem(server, await decide(server, waiting, waiting.ann), 409, 'already_answered')
  })

  it('waits for its owner where it used their key', async () => {
    const apiKey = 'sk-of-ann-0123456789'
    const waiting = await asked(server, '5', { apiKey })
    const { id, ann } = waiting
    await eventually(async () => expect((await get(server, id, as(ann))).resumable).toBe(true))
    const headers = { 'x-api-key': apiKey }
    const deny = { decision: 'deny', reason: 'The approval has expired' }
    const { text } = await decide(server, waiting, ann, deny, headers)
    expect(JSON.parse(text).text).toContain(`with ${apiKey}`)
  })
}

export function boundCases(server: Server): void {
  it('lets only so many plain runs of one client wait', async () => {
    const ann = own('ann')
    for (let count = 0; count < 3; count++) await asked(server, '5', { ann })
    const answer = await post(server, '/api/agents/pays/run', { input: '5' }, as(ann))
    await expectProblem(server, answer, 429, 'too_many_runs')
    await asked(server)
  })
}
