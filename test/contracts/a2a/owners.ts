import { describe, expect, it } from 'vitest'
import {
  as,
  atWork,
  cancel,
  expectError,
  get,
  getTask,
  hear,
  list,
  openGate,
  own,
  type Server,
  send,
  sendCall,
  subscribeCall,
  TONGUES,
  type Tongues,
  tongues,
} from './client.ts'

export function ownerCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('a task of an owner: %s', (_, tongue) => {
    it('is not there for anyone else', async () => {
      const headers = as(own('owner'))
      const contextId = own('context')
      const { id, gate } = await atWork(server, tongue, { headers, contextId })
      for (const other of [{}, as(own('other'))]) {
        const options = { headers: other }
        for (const heard of [
          await get(server, tongue, id, options),
          await cancel(server, tongue, id, options),
          await hear(server, tongue, subscribeCall(tongue, id, options)),
          await hear(server, tongue, subscribeCall(tongue, id, { ...options, lastEventId: '0' })),
          await send(server, tongue, { taskId: id, headers: other }),
          await send(server, tongue, { taskId: id, contextId, headers: other }),
          await hear(server, tongue, sendCall(tongue, { taskId: id, headers: other }, 'stream')),
        ]) {
          expectError(tongue, heard, 'taskNotFound')
        }
        const page = await list(server, TONGUES.rest1, { contextId }, options)
        expect(page).toMatchObject({ tasks: [], totalSize: 0 })
      }
      const mine = await list(server, TONGUES.rest1, { contextId }, { headers })
      expect(mine).toMatchObject({ tasks: [{ id, state: 'working' }], totalSize: 1 })
      expect((await getTask(server, tongue, id, { headers })).state).toBe('working')
      await openGate(server, gate)
    })

    it('is at work for its owner, whatever user its message claims', async () => {
      const user = own('owner')
      const sending = { agent: 'told', headers: as(user), metadata: { userId: 'somebody' } }
      const { task } = await send(server, tongue, sending)
      expect(JSON.stringify(task?.artifacts)).toContain(`"userId":"${user}"`)
    })

    it('is refused where middleware refuses', async () => {
      const { path, init } = sendCall(tongue, { headers: { 'x-test-middleware': 'refuse' } })
      const response = await fetch(`${server().url}${path}`, init)
      expect([response.status, await response.text()]).toEqual([401, 'refused'])
      const { headers } = await send(server, tongue, {})
      expect(headers.get('x-middleware')).toBe('a2a')
    })
  })
}
