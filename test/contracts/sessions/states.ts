import { describe, expect, it } from 'vitest'
import { as, ask, own, post, type Server } from '../runs/client.ts'
import { pathOf, say } from './client.ts'

type Headers = Record<string, string>

const OF = 'agents/graph'

/** Sends messages to the agent that is a graph. */
function graphOf(server: Server) {
  const told = async (input: string, id: string, headers: Headers, more: object = {}) => {
    const { status, text } = await say(server, input, id, headers, more, OF)
    expect(status, text).toBe(200)
    return JSON.parse(text) as { text: string; runId: string; requests?: { id: string }[] }
  }
  const textOf = async (...args: Parameters<typeof told>) => (await told(...args)).text
  return { told, textOf }
}

/** States of which one keeps a process busy for a while: no other test may wait for it. */
export function largeStatesCases(server: Server): void {
  it('of a graph are kept', async () => {
    const { told, textOf } = graphOf(server)
    const ann = as(own('ann'))
    const id = own('session')
    await told('big 10000000', id, ann)
    expect(await textOf('two', id, ann)).toBe('big 10000000, told, two and 10000000')
  })
}

/** What a graph keeps of a session, without a checkpointer of its own. */
export function statesCases(server: Server): void {
  const { told, textOf } = graphOf(server)
  const remove = (path: string, headers: Headers) => ask(server, path, { method: 'DELETE', headers })

  describe('the states of a graph', () => {
    it('go on with each turn, for their owner alone', async () => {
      const [ann, bob] = [as(own('ann')), as(own('bob'))]
      const id = own('session')
      expect(await textOf('one', id, ann)).toBe('one')
      expect(await textOf('two', id, ann)).toBe('one, told, two')
      expect(await textOf('one', id, bob)).toBe('one')
      expect(await textOf('three', id, ann)).toBe('one, told, two, told, three')
    })

    it('follow the branches of the session', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      const runs: string[] = []
      for (const messageId of ['one', 'two', 'three'])
        runs.push((await told(messageId, id, ann, { messageId })).runId)
      expect(await textOf('other', id, ann, { replaces: 'two' })).toBe('one, told, other')
      expect(await textOf('more', id, ann)).toBe('one, told, other, told, more')
      const [, two, three] = runs
      expect(await textOf('four', id, ann, { branchFrom: three })).toBe(
        'one, told, two, told, three, told, four',
      )
      expect((await remove(`${pathOf(id, OF)}/branches/${two}`, ann)).status).toBe(204)
      expect(await textOf('last', id, ann)).toBe('one, told, last')
      expect(await textOf('first', id, ann, { replaces: 'one' })).toBe('first')
    })

    it('are those of the last turn once it is deleted', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      await told('one', id, ann)
      const { runId } = await told('two', id, ann)
      expect((await remove(`${pathOf(id, OF)}/branches/${runId}`, ann)).status).toBe(204)
      expect(await textOf('three', id, ann)).toBe('one, told, three')
    })

    it('are copied by a fork, up to its turn', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      const { runId } = await told('one', id, ann)
      await told('two', id, ann)
      const forked = async (more: object) => {
        const { status, text } = await post(server, `${pathOf(id, OF)}/fork`, more, ann)
        expect(status, text).toBe(201)
        return JSON.parse(text).id as string
      }
      const [whole, part] = [await forked({}), await forked({ runId })]
      expect(await textOf('three', whole, ann)).toBe('one, told, two, told, three')
      expect(await textOf('three', part, ann)).toBe('one, told, three')
      expect((await remove(pathOf(id, OF), ann)).status).toBe(204)
      expect(await textOf('four', whole, ann)).toBe('one, told, two, told, three, told, four')
    })

    it('end with the session', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      await told('one', id, ann)
      expect((await remove(pathOf(id, OF), ann)).status).toBe(204)
      expect(await textOf('two', id, ann)).toBe('two')
    })

    it('wait for an answer', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      await told('one', id, ann)
      const { runId, requests = [] } = await told('ask', id, ann)
      const answers = requests.map(request => ({ id: request.id, value: 'yes' }))
      const { status, text } = await post(server, `/api/runs/${runId}/answers`, { answers }, ann)
      expect([status, JSON.parse(text).text]).toEqual([200, expect.stringContaining('yes')])
      expect(await textOf('two', id, ann)).toBe('one, told, ask, told, two')
    })

    it('wait for an answer in a run without a session too', async () => {
      const ann = as(own('ann'))
      const ran = async (path: string, body: object) => {
        const { status, text } = await post(server, path, body, ann)
        expect(status, text).toBe(200)
        return JSON.parse(text)
      }
      const { runId, requests } = await ran(`/api/${OF}/run`, { input: 'ask' })
      const answers = [{ id: requests[0].id, value: 'sure' }]
      expect((await ran(`/api/runs/${runId}/answers`, { answers })).text).toContain('sure')
      expect((await ran(`/api/${OF}/run`, { input: 'two' })).text).toBe('two')
    })
  })
}
