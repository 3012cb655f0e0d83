/** Decisions of others than the one who asked, over every transport. */
import { describe, expect, it } from 'vitest'
import { expectProblem } from '../http/client.ts'
import { ask } from '../runs/client.ts'
import { as, asked, bobOf, decide, get, own, post, type Server, wentOn } from './client.ts'
import { socketOf, TRANSPORTS } from './ways.ts'

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

export function decidingCases(server: Server, transports = TRANSPORTS): void {
  describe.each(Object.entries(transports))('a decision of another person %s', (_, approve) => {
    it('lets the run go on as its owner’s, and tells nothing of it', async () => {
      const waiting = await asked(server, '5', { sessionId: 'wednesday' })
      const told = await approve(server, waiting, bobOf(waiting))
      const record = await wentOn(server, waiting)
      expect(record.result?.text).toBe(`paid 5 by ${waiting.ann} in wednesday with no key`)
      for (const secret of [record.id, 'paid', 'wednesday']) expect(told()).not.toContain(secret)
      const { answered } = await get(server, waiting.id, as(waiting.ann))
      const answeredBy = { id: bobOf(waiting), at: expect.stringMatching(TIME), over: expect.any(String) }
      const [request] = waiting.requests
      expect(answered).toEqual([
        { id: request?.id, kind: 'approval', toolName: 'pay', decision: 'approve', answeredBy },
      ])
      for (const id of [waiting.id, record.id]) {
        const path = `/api/runs/${id}`
        const answer = await ask(server, path, { headers: as(bobOf(waiting)) })
        await expectProblem(server, answer, 404, 'run_not_found')
      }
    })
  })

  it('tells the tool who approved it, when and how, whoever the answer claims', async () => {
    const waiting = await asked(server, 'x', { name: 'audited' })
    const forged = { answeredBy: { id: 'the king', at: '2020-01-01T00:00:00.000Z', over: 'pigeon' } }
    expect((await decide(server, waiting, waiting.ann, forged)).status).toBe(200)
    const { result } = await wentOn(server, waiting)
    const { at, ...by } = JSON.parse(result?.text ?? '')
    expect(by).toEqual({ id: waiting.ann, over: 'http' })
    expect(at).toMatch(/^2(?!020)\d{3}-/)
  })

  it('is not found by somebody who may decide nothing of the run', async () => {
    const waiting = await asked(server)
    for (const who of [own('carol'), `thrower of ${waiting.ann}`]) {
      await expectProblem(server, await decide(server, waiting, who), 404, 'run_not_found')
    }
    const nobody = await post(server, `/api/runs/${waiting.id}/answers`, {
      answers: [{ id: waiting.requests[0]?.id, decision: 'approve' }],
    })
    await expectProblem(server, nobody, 404, 'run_not_found')
    expect((await get(server, waiting.id, as(waiting.ann))).requests).toEqual(waiting.requests)
  })

  it('needs a yes from the asker too', async () => {
    const waiting = await asked(server, '500')
    await expectProblem(server, await decide(server, waiting, waiting.ann), 403, 'forbidden')
    const told = JSON.parse((await decide(server, waiting, bobOf(waiting))).text)
    expect(told).toEqual({ id: waiting.id, kind: 'agent', name: 'pays', goesOn: true })
    expect((await wentOn(server, waiting)).result?.text).toContain('paid 500')
  })

  it('is of approvals alone: the owner answers questions', async () => {
    const waiting = await asked(server, 'x', { name: 'orders' })
    const [approval, question] = waiting.requests
    const give = (who: string, ...answers: object[]) =>
      post(server, `/api/runs/${waiting.id}/answers`, { answers }, as(who))
    const size = { id: question?.id, value: 'M' }
    const yes = { id: approval?.id, decision: 'approve' }
    for (const answers of [[size], [yes, size]]) {
      await expectProblem(server, await give(bobOf(waiting), ...answers), 403, 'forbidden')
      await expectProblem(server, await give(own('carol'), ...answers), 404, 'run_not_found')
    }
    const told = JSON.parse((await give(bobOf(waiting), yes)).text)
    expect(told).toEqual({ id: waiting.id, kind: 'agent', name: 'orders', goesOn: false })
    const record = await get(server, waiting.id, as(waiting.ann))
    expect(record.requests).toEqual([question])
    expect(JSON.parse((await give(waiting.ann, size)).text).text).toBe('paid 5 in M')
  })

  it('refuses what does not fit, and tells of two at once the same', async () => {
    const waiting = await asked(server)
    const other = await asked(server)
    const bob = bobOf(waiting)
    await expectProblem(server, await decide(server, waiting, bob, { digest: 'x' }), 409, 'request_changed')
    const foreign = { id: other.requests[0]?.id }
    const missing = await decide(server, waiting, bob, foreign)
    await expectProblem(server, missing, 404, 'request_not_found')
    await expectProblem(server, await decide(server, other, bob), 404, 'run_not_found')
    const outcomes = await Promise.all([
      decide(server, waiting, bob),
      decide(server, waiting, waiting.ann, {}, { prefer: 'respond-async' }),
      decide(server, waiting, bob, { decision: 'deny' }),
    ])
    const codes = outcomes.map(({ status }) => status)
    const denied = codes[2] === 200
    for (const { status, text } of outcomes.filter(({ status }) => status >= 400)) {
      expect([status, JSON.parse(text).code]).toEqual([409, 'already_answered'])
    }
    expect(codes.slice(0, 2).map(code => code < 300)).toEqual([!denied, !denied])
    const { result } = await wentOn(server, waiting)
    expect(result?.text).toContain(denied ? 'not paid' : 'paid 5')
  })
}

const KEY_OF_ANN = 'sk-of-ann-0123456789'
const KEY_OF_BOB = 'sk-of-bob-0123456789'

export function keyCases(server: Server): void {
  it('never uses the key of somebody who decides', async () => {
    const waiting = await asked(server)
    await decide(server, waiting, bobOf(waiting), {}, { 'x-api-key': KEY_OF_BOB })
    expect((await wentOn(server, waiting)).result?.text).toContain('with no key')
  })

  it('waits for its owner where it used their key', async () => {
    const waiting = await asked(server, '5', { apiKey: KEY_OF_ANN })
    const bob = await decide(server, waiting, bobOf(waiting), {}, { 'x-api-key': KEY_OF_BOB })
    expect(JSON.parse(bob.text)).toMatchObject({ goesOn: false, resumable: true })
    const record = await get(server, waiting.id, as(waiting.ann))
    expect(record).toMatchObject({ status: 'input_required', resumable: true })
    expect(record).not.toHaveProperty('requests')
    expect(record).not.toHaveProperty('continuedBy')
    await expectProblem(server, await decide(server, waiting, waiting.ann), 400, 'key_required')
    const last = await decide(server, waiting, waiting.ann, {}, { 'x-api-key': KEY_OF_ANN })
    expect(JSON.parse(last.text).text).toContain(`with ${KEY_OF_ANN}`)
    expect(await get(server, waiting.id, as(waiting.ann))).not.toHaveProperty('resumable')
  })

  it('waits for its owner, which the socket tells who decides', async () => {
    const waiting = await asked(server, '5', { apiKey: KEY_OF_ANN })
    const answers = [{ id: waiting.requests[0]?.id, decision: 'approve' }]
    const ack = await socketOf(server, bobOf(waiting)).ask('run.answers', { runId: waiting.id, answers })
    expect(ack).toEqual({ runId: waiting.id, requests: [], goesOn: false, resumable: true })
  })

  it('takes no last answer of its owner without the key that it needs', async () => {
    const waiting = await asked(server, '5', { apiKey: KEY_OF_ANN })
    await expectProblem(server, await decide(server, waiting, waiting.ann), 400, 'key_required')
    expect((await get(server, waiting.id, as(waiting.ann))).requests).toEqual(waiting.requests)
  })
}
