/** Resources, prompts and streams of changes. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { jsonRequest } from '../http/client.ts'
import { as, own, type Server } from '../runs/client.ts'
import { ask, hear, type Json, resultOf, TASKS } from './client.ts'

export function readingCases(server: Server): void {
  describe.concurrent('what clients read', () => {
    it('is listed, read, picked and completed', async () => {
      const owner = as(own('owner'))
      const asked = { headers: owner }
      const { resources } = await resultOf(server, 'resources/list', {}, asked)
      expect(resources.map(({ uri }: Json) => uri)).toContain('words://all')
      const read = await resultOf(server, 'resources/read', { uri: 'words://all' }, asked)
      expect(read.contents).toEqual([{ uri: 'words://all', mimeType: 'text/plain', text: 'lamp, oil' }])
      const bytes = await resultOf(server, 'resources/read', { uri: 'words://bytes/3' }, asked)
      expect(bytes.contents[0].blob).toBe('AwMD')
      const prompt = await resultOf(
        server,
        'prompts/get',
        { name: 'define', arguments: { word: 'lamp' } },
        asked,
      )
      expect(prompt.messages[0].content.text).toBe('What is lamp?')
      const ref = { type: 'ref/prompt', name: 'define' }
      const { completion } = await resultOf(
        server,
        'completion/complete',
        { ref, argument: { name: 'word', value: 'l' } },
        asked,
      )
      expect(completion).toEqual({ values: ['lamp'], total: 1, hasMore: false })
    })

    it('has the files that agents made for this caller', async () => {
      const [owner, other] = [as(own('owner')), as(own('other'))]
      const params = { name: 'writes_task', arguments: { input: own('x') } }
      const { taskId } = await resultOf(server, 'tools/call', params, { can: TASKS, headers: owner })
      const files = async (headers: Readonly<Record<string, string>>): Promise<Json[]> => {
        const { resources } = await resultOf(server, 'resources/list', {}, { headers })
        return resources.filter(({ uri }: Json) => uri.startsWith('servable://files/'))
      }
      const uri = `servable://files/${taskId}/message-1.0`
      const file = { uri, name: 'a b.csv', mimeType: 'text/csv', size: 6000 }
      await eventually(async () => expect(await files(owner)).toEqual([file]))
      expect(await files(other)).toEqual([])
      const { contents } = await resultOf(server, 'resources/read', { uri }, { headers: owner })
      expect(contents).toEqual([{ uri, mimeType: 'text/csv', text: 'A'.repeat(6000) }])
      const refused = await (await ask(server, 'resources/read', { uri }, { headers: other })).json()
      expect(refused.error).toMatchObject({ code: -32602, data: { uri } })
    })

    it('has a stream of changes, which tells the owner of a conversation and nobody else', async () => {
      const [owner, other] = [as(own('owner')), as(own('other'))]
      const listen = async (headers: Readonly<Record<string, string>>) => {
        const leaving = new AbortController()
        const notifications = { resourcesListChanged: true }
        const response = ask(
          server,
          'subscriptions/listen',
          { notifications },
          { headers, signal: leaving.signal },
        )
        const stream = await hear(response)
        const first = (await stream.next()) as Json
        return { first, stream, leave: () => leaving.abort() }
      }
      const [mine, theirs] = [await listen(owner), await listen(other)]
      for (const { first } of [mine, theirs])
        expect(first).toMatchObject({
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: { resourcesListChanged: true } },
        })
      const changed = mine.stream.next()
      const id = own('session')
      const say = async () => {
        const init = jsonRequest({ input: own('x'), sessionId: id }, owner)
        expect((await fetch(`${server().url}/api/agents/echoes/run`, init)).status).toBe(200)
      }
      // It may not have looked for the first time yet: what it has not seen before is no change.
      let told: Json
      void changed.then(message => (told = message))
      for (let tries = 0; told === undefined && tries < 20; tries++) {
        await say()
        await Promise.race([changed, new Promise(resolve => setTimeout(resolve, 2500))])
      }
      expect(told).toMatchObject({ method: 'notifications/resources/list_changed' })
      mine.leave()
      theirs.leave()
      const uri = `servable://conversations/agent/echoes/${id}`
      const { contents } = await resultOf(server, 'resources/read', { uri }, { headers: owner })
      expect(contents[0].text).toContain('**User**')
      const refused = await (await ask(server, 'resources/read', { uri }, { headers: other })).json()
      expect(refused.error).toMatchObject({ code: -32602, data: { uri } })
    })
  })
}
