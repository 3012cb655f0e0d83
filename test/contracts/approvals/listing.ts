/** What waits, in pages and as it changes. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { expectProblem } from '../http/client.ts'
import { watching } from '../http/watching.ts'
import { ask, cancel } from '../runs/client.ts'
import { as, asked, bobOf, clientOf, decide, get, inbox, own, post, type Server, wentOn } from './client.ts'

const WEEK_MS = 7 * 24 * 60 * 60 * 1000

interface Told {
  readonly type: string
  readonly id?: string
  readonly approvals?: readonly { readonly request: { readonly id: string } }[]
  readonly approval?: { readonly request: { readonly id: string } }
}

/** Reads the inbox as it changes. */
const watch = (server: Server, who: string, query = '') =>
  watching<Told>(`${server().url}/api/approvals${query}`, as(who))

export function listingCases(server: Server): void {
  it('lists what waits of one’s own, and of others what one may decide', async () => {
    const waiting = await asked(server, '5', { sessionId: 'wednesday' })
    const { ann, id, requests } = waiting
    const [entry, ...more] = await inbox(server, ann)
    expect(more).toEqual([])
    expect(entry).toMatchObject({ request: requests[0], run: { id, kind: 'agent', sessionId: 'wednesday' } })
    expect(entry?.run).not.toHaveProperty('owner')
    expect(Date.parse(entry?.expiresAt ?? '') - Date.parse(entry?.createdAt ?? '')).toBe(WEEK_MS)
    expect(await inbox(server, ann, 'whose=others')).toEqual([])
    const [seen, ...others] = await inbox(server, bobOf(waiting), 'whose=others&limit=100')
    expect(others).toEqual([])
    expect(seen).toEqual({ ...entry, run: { ...entry?.run, owner: ann } })
    for (const query of ['', 'whose=others']) expect(await inbox(server, own('carol'), query)).toEqual([])
    expect(JSON.stringify(seen)).not.toContain('input')
    await decide(server, waiting, bobOf(waiting))
    expect(await inbox(server, ann)).toEqual([])
    expect(await inbox(server, bobOf(waiting), 'whose=others')).toEqual([])
  })

  it('gives what was said before to whoever may decide it, and to nobody else', async () => {
    const ann = own('ann')
    const started = await post(
      server,
      '/api/agents/orders/run',
      { input: 'a shirt' },
      {
        ...as(ann),
        prefer: 'respond-async',
      },
    )
    const { id } = JSON.parse(started.text)
    const requests = await eventually(async () => {
      const { requests = [] } = await get(server, id, as(ann))
      expect(requests).toHaveLength(2)
      return requests
    })
    const waiting = { id, ann, requests }
    const [approval, question] = requests
    const read = (who: string) => ask(server, `/api/approvals/${id}`, { headers: as(who) })
    const bob = await read(bobOf(waiting))
    expect([bob.status, bob.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const [entry] = await inbox(server, bobOf(waiting), 'whose=others')
    const { request, ...about } = entry!
    const messages = [
      { role: 'user', content: 'a shirt' },
      { role: 'assistant', content: 'An order. ' },
    ]
    expect(JSON.parse(bob.text)).toEqual({
      ...{ ...about, requests: [request], messages },
      ...{ answered: [], deciders: ['authorized', 'role'] },
    })
    expect(await clientOf(server, bobOf(waiting)).approvals.get(id)).toEqual(JSON.parse(bob.text))
    const mine = JSON.parse((await read(ann)).text)
    expect(mine.requests).toEqual([approval, question])
    expect(mine.run).not.toHaveProperty('owner')
    for (const who of ['carol', `thrower of ${ann}`])
      await expectProblem(server, await read(who), 404, 'run_not_found')
    await expectProblem(server, await ask(server, `/api/approvals/${id}`), 404, 'not_found')
    await decide(server, waiting, bobOf(waiting))
    const answered = [
      {
        ...{ id: approval?.id, kind: 'approval', toolName: 'pay', decision: 'approve' },
        answeredBy: expect.objectContaining({ id: bobOf(waiting), over: 'http' }),
      },
    ]
    expect(JSON.parse((await read(bobOf(waiting))).text)).toMatchObject({
      ...{ requests: [], answered, messages: [] },
    })
    await expectProblem(server, await read('carol'), 404, 'run_not_found')
    expect(JSON.parse((await read(ann)).text)).toMatchObject({ requests: [question], answered, messages })
  })

  it('says who decided, and to the owner alone which run goes on', async () => {
    const waiting = await asked(server)
    const { id, ann } = waiting
    await decide(server, waiting, bobOf(waiting), { decision: 'deny', reason: 'a secret' })
    const read = async (who: string) => (await ask(server, `/api/approvals/${id}`, { headers: as(who) })).text
    const { continuedBy } = await get(server, id, as(ann))
    const answered = [{ decision: 'deny', answeredBy: { id: bobOf(waiting) } }]
    const mine = await read(ann)
    expect(JSON.parse(mine)).toMatchObject({ answered, requests: [], continuedBy })
    const bobs = await read(bobOf(waiting))
    expect(JSON.parse(bobs)).toMatchObject({ answered, requests: [], messages: [] })
    expect(bobs).not.toContain(continuedBy)
    for (const text of [mine, bobs]) expect(text).not.toContain('a secret')
  })

  it('gives the turns of the session before', async () => {
    const ann = own('ann')
    const before = await asked(server, '5', { ann, sessionId: 'monday' })
    await decide(server, before, ann)
    await wentOn(server, before)
    const { id } = await asked(server, '7', { ann, sessionId: 'monday' })
    await asked(server, '9', { ann, sessionId: 'tuesday' })
    const { messages } = await clientOf(server, bobOf(before)).approvals.get(id)
    expect(messages).toEqual([
      { role: 'user', content: '5' },
      { role: 'assistant', content: expect.stringContaining('paid 5') },
      { role: 'user', content: '7' },
    ])
  })

  it('gives of a plain run what the user said', async () => {
    const waiting = await asked(server, 'a hat', { name: 'orders' })
    const { messages } = JSON.parse(
      (await ask(server, `/api/approvals/${waiting.id}`, { headers: as(bobOf(waiting)) })).text,
    )
    expect(messages).toEqual([{ role: 'user', content: 'a hat' }])
  })

  it('loses what its owner cancels', async () => {
    const waiting = await asked(server)
    const { id, ann } = waiting
    expect(await inbox(server, bobOf(waiting), 'whose=others')).toHaveLength(1)
    expect((await cancel(server, id, as(ann))).status).toBe(200)
    expect((await get(server, id, as(ann))).status).toBe('cancelled')
    await eventually(async () => {
      expect(await inbox(server, bobOf(waiting), 'whose=others')).toEqual([])
      expect(await inbox(server, ann)).toEqual([])
    })
    expect((await decide(server, waiting, ann)).status).toBe(409)
  })

  it('lists by the kind of request, and only what is open', async () => {
    const waiting = await asked(server, 'x', { name: 'orders' })
    const [approval, question] = waiting.requests
    const of = async (kind: string) =>
      (await inbox(server, waiting.ann, `kind=${kind}`)).map(({ request }) => request)
    expect(await of('approval')).toEqual([approval])
    expect(await of('question')).toEqual([question])
    expect(await of('client_tool')).toEqual([])
    await decide(server, waiting, bobOf(waiting))
    expect(await of('approval')).toEqual([])
    expect(await of('question')).toEqual([question])
    expect(await inbox(server, bobOf(waiting), 'whose=others&kind=question')).toEqual([])
  })

  it('gives pages, newest first', async () => {
    const ann = own('ann')
    const ids: string[] = []
    for (let count = 0; count < 7; count++) ids.push((await asked(server, '5', { ann })).id)
    const listed = await inbox(server, ann, 'limit=3')
    expect(listed.map(({ run }) => run.id)).toHaveLength(ids.length)
    expect(new Set(listed.map(({ run }) => run.id))).toEqual(new Set(ids))
    const times = listed.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  it.each(['kind=x', 'whose=x', 'limit=0', 'limit=101', 'cursor=x'])('refuses %s', async query => {
    const answer = await ask(server, `/api/approvals?${query}`, { headers: as(own('ann')) })
    await expectProblem(server, answer, 400, 'invalid_query')
  })

  it('is not there for somebody without an identity', async () => {
    await expectProblem(server, await ask(server, '/api/approvals'), 404, 'not_found')
  })

  it('tells what waits, what comes and what goes', async () => {
    const before = await asked(server)
    const { ann } = before
    const idOf = ({ requests }: typeof before) => requests[0]?.id
    const streams = [
      await watch(server, ann),
      await watch(server, bobOf(before), '?whose=others&kind=approval'),
    ]
    for (const next of streams) {
      const { id, event } = await next()
      expect([id, event.type]).toEqual(['1', 'all'])
      expect(event.approvals?.map(({ request }) => request.id)).toEqual([idOf(before)])
    }
    const after = await asked(server, '5', { ann })
    for (const next of streams) {
      const { id, event } = await next()
      expect([id, event.type, event.approval?.request.id]).toEqual(['2', 'added', idOf(after)])
    }
    await decide(server, before, bobOf(before))
    for (const next of streams) {
      expect(await next()).toEqual({ id: '3', event: { type: 'removed', id: idOf(before) } })
    }
    const again = await (await watch(server, ann))()
    expect(again.event.approvals?.map(({ request }) => request.id)).toEqual([idOf(after)])
  })

  it('is watched with the client', async () => {
    const waiting = await asked(server)
    const types: string[] = []
    for await (const event of clientOf(server, waiting.ann).approvals.watch()) {
      types.push(event.type)
      if (event.type === 'removed') break
      await decide(server, waiting, bobOf(waiting))
    }
    expect(types).toEqual(['all', 'removed'])
  })
}
