/** What is left of deliveries whose session or user is deleted. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { accept, as, ask, deliveries, own, subscribed, type Told } from './client.ts'

export function forgettingCases(told: Told): void {
  const { server, receiver } = told
  const admin = { headers: { 'x-test-admin': 'yes' } }

  /** The runs among these of which a subscription has deliveries. */
  const toldOf = async (webhook: string, runs: readonly string[]) => {
    const { text } = await ask(server, `/api/admin/webhooks/${webhook}/deliveries?limit=100`, admin)
    const ids: string[] = JSON.parse(text).deliveries.map(({ runId }: { runId: string }) => runId)
    return runs.filter(id => ids.includes(id))
  }
  const remove = async (path: string, user: string) =>
    expect((await ask(server, path, { method: 'DELETE', headers: as(user) })).status).toBe(204)

  it('those of a session go with it, and those of a user with the user, whoever they are for', async () => {
    const [ann, bob] = [own('ann'), own('bob')]
    const [one, two] = [own('session'), own('session')]
    const { id: ofAnn } = await subscribed(told, ann, `/${own('ann')}`, { contents: true })
    const webhook = { url: `${receiver().url}/${own('dead')}` }
    const start = async (user: string, sessionId: string) =>
      (await accept(server, 'agents/echo', { input: 'x', sessionId, webhook }, as(user))).id
    const runs = [await start(ann, one), await start(ann, two), await start(bob, one)]
    const [, second = '', ofBob = ''] = runs
    const subscriptions = ['all', 'contents', 'run']
    for (const each of subscriptions)
      await eventually(async () => expect(await toldOf(each, runs)).toEqual(runs))
    await eventually(async () => expect(await deliveries(server, ofAnn, ann)).toHaveLength(2))

    await remove(`/api/agents/echo/sessions/${one}`, ann)
    for (const each of subscriptions) expect(await toldOf(each, runs)).toEqual([second, ofBob])
    expect(await deliveries(server, ofAnn, ann)).toMatchObject([{ runId: second }])

    await remove('/api/users/me', ann)
    for (const each of subscriptions) expect(await toldOf(each, runs)).toEqual([ofBob])
  })
}
