/** What `GET /approvals/:id` tells of a request that has expired, and whoever may decide but may not read inputs. */
import { describe, expect, it } from 'vitest'
import { bearerAuth } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { service } from './kit.ts'

describe('the detail of an approval', () => {
  it('is there for its owner once it has expired, without what is not kept any more', async () => {
    const { ask, waiting } = service({ expiresMs: 1000 }, { runs: { keepInput: false } })
    const { id } = await waiting('ada')
    expect(await ask(`approvals/${id}`, 'ada')).toMatchObject({
      status: 200,
      body: { messages: [{ role: 'user', content: 'x' }] },
    })
    await eventually(async () => expect((await ask(`runs/${id}`, 'ada')).body.status).toBe('failed'))
    expect(await ask(`approvals/${id}`, 'ada')).toMatchObject({
      status: 200,
      body: { run: { id }, requests: [], messages: [] },
    })
  })

  it('has no messages for a role that may answer, and may not read inputs', async () => {
    const tokens = {
      ada: 'ada',
      eve: { id: 'eve', roles: ['decider'] },
      amy: { id: 'amy', roles: ['approver'] },
    }
    const { handler } = service({}, { middleware: [bearerAuth({ tokens })], access: { decider: ['answer'] } })
    const ask = async (path: string, who: string, body?: object) => {
      const headers = { authorization: `Bearer ${who}`, 'content-type': 'application/json' }
      const init = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
      return (await handler(new Request(`http://127.0.0.1/api/${path}`, init))).json()
    }
    const { runId: id } = await ask('agents/pays/run', 'ada', { input: 'my secret' })
    const messages = [{ role: 'user', content: 'my secret' }]
    expect(await ask(`approvals/${id}`, 'amy')).toMatchObject({ requests: [{ toolName: 'pay' }], messages })
    expect(await ask(`approvals/${id}`, 'eve')).toMatchObject({
      requests: [{ toolName: 'pay' }],
      messages: [],
    })
    expect(await ask(`approvals/${id}`, 'ada')).toMatchObject({ messages })
  })
})
