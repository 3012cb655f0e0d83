import { describe, expect, it } from 'vitest'
import {
  as,
  atWork,
  callOf,
  cancel,
  eventually,
  expectError,
  hear,
  list,
  openGate,
  own,
  rpcCall,
  type SeenTask,
  type Server,
  send,
  sendForTask,
  TONGUES,
  type Tongues,
  tongues,
} from './client.ts'

const idsOf = (tasks: readonly SeenTask[]) => tasks.map(({ id }) => id)

/** The tasks, newest first. Tasks of the same time are in the order of their ids. */
function newestFirst(tasks: readonly SeenTask[]): SeenTask[] {
  const place = ({ timestamp, id }: SeenTask) => `${timestamp} ${id}`
  return [...tasks].sort((a, b) => (place(a) < place(b) ? 1 : -1))
}

export function listCases(server: Server, spoken: Tongues = tongues): void {
  it('takes no parameters at all on JSON-RPC', async () => {
    const headers = as(own('owner'))
    for (const params of [undefined, {}]) {
      const heard = await hear(
        server,
        TONGUES.rpc1,
        rpcCall({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params }, headers),
      )
      expect(heard.value).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 })
    }
  })

  const listing = spoken.filter(([, tongue]) => tongue !== TONGUES.rpc03)
  describe.each(listing)('a list of tasks: %s', (_, tongue) => {
    it('is empty for an owner without tasks, with no parameters at all', async () => {
      const headers = as(own('owner'))
      const heard = await hear(server, tongue, callOf(tongue, 'list', {}, { headers }))
      expect(heard.value).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 })
    })

    it('tells of every task at once, the one that changed last first', async () => {
      const headers = as(own('owner'))
      const tasks: SeenTask[] = []
      for (let index = 0; index < 4; index++)
        tasks.push(await sendForTask(server, tongue, { headers, agent: 'clerk' }))
      const page = await list(server, tongue, {}, { headers })
      expect(page).toMatchObject({ totalSize: 4, nextPageToken: '', pageSize: 50 })
      expect(idsOf(page.tasks)).toEqual(idsOf(newestFirst(tasks)))
      const [first] = tasks
      const changed = await sendForTask(server, tongue, { headers, taskId: first!.id, text: 'Oslo' })
      const now = await list(server, tongue, {}, { headers })
      expect(idsOf(now.tasks)).toEqual(idsOf(newestFirst([...tasks.slice(1), changed])))
      expect(now.tasks.find(({ id }) => id === changed.id)).toMatchObject({
        state: 'completed',
        timestamp: changed.timestamp,
      })
    })

    it('filters by status at once, by context and by time', async () => {
      const headers = as(own('owner'))
      const contextId = own('context')
      const done = await sendForTask(server, tongue, { headers, contextId })
      const waiting = await sendForTask(server, tongue, { headers, agent: 'clerk' })
      const { dialect } = tongue
      const named =
        dialect.name === TONGUES.rest03.dialect.name ? 'TASK_STATE_CANCELLED' : 'TASK_STATE_CANCELED'
      const of = async (query: Record<string, unknown>) =>
        idsOf((await list(server, tongue, query, { headers })).tasks)
      expect(await of({ status: 'TASK_STATE_COMPLETED' })).toEqual([done.id])
      expect(await of({ status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([waiting.id])
      expect(await of({ contextId })).toEqual([done.id])
      expect(await of({ contextId, status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([])
      expect(await of({ contextId: own('context') })).toEqual([])
      expect(await of({ statusTimestampAfter: waiting.timestamp })).toEqual(
        done.timestamp === waiting.timestamp ? [waiting.id, done.id] : [waiting.id],
      )
      expect(await of({ statusTimestampAfter: done.timestamp })).toEqual([waiting.id, done.id])
      expect(await of({ statusTimestampAfter: '2100-01-01T00:00:00Z' })).toEqual([])
      await cancel(server, tongue, waiting.id, { headers })
      expect(await of({ status: named })).toEqual([waiting.id])
      expect(await of({ status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([])
    })

    it('tells of a task at work, and then that it has ended', async () => {
      const headers = as(own('owner'))
      const { id, gate } = await atWork(server, tongue, { headers })
      const of = async (status: string) => idsOf((await list(server, tongue, { status }, { headers })).tasks)
      expect(await of('TASK_STATE_WORKING')).toEqual([id])
      await openGate(server, gate)
      await eventually(async () => expect(await of('TASK_STATE_COMPLETED')).toEqual([id]))
      expect(await of('TASK_STATE_WORKING')).toEqual([])
    })

    it('tells of every task the moment that it has ended, again and again', async () => {
      const headers = as(own('owner'))
      for (let count = 1; count <= 15; count++) {
        const { id } = await sendForTask(server, tongue, { headers })
        const page = await list(server, tongue, { status: 'TASK_STATE_COMPLETED' }, { headers })
        expect(page).toMatchObject({
          totalSize: count,
          tasks: expect.arrayContaining([expect.objectContaining({ id })]),
        })
      }
      const asked = await list(server, tongue, { status: 'TASK_STATE_WORKING' }, { headers })
      expect(asked).toMatchObject({ totalSize: 0, tasks: [] })
    })

    it('goes page by page, with every task once', async () => {
      const headers = as(own('owner'))
      const sent = await Promise.all(
        Array.from({ length: 7 }, () => sendForTask(server, tongue, { headers })),
      )
      const seen: string[] = []
      let pageToken = ''
      for (let pages = 0; pages < 10; pages++) {
        const query = { pageSize: 3, ...(pageToken && { pageToken }) }
        const page = await list(server, tongue, query, { headers })
        expect(page).toMatchObject({ totalSize: 7, pageSize: 3 })
        seen.push(...idsOf(page.tasks))
        pageToken = page.nextPageToken
        if (pageToken === '') break
      }
      expect(seen).toHaveLength(7)
      expect(new Set(seen)).toEqual(new Set(idsOf(sent)))
    })

    it('holds no artifacts unless they are asked for', async () => {
      const headers = as(own('owner'))
      await sendForTask(server, tongue, { headers, text: 'one two' })
      const [plain] = (await list(server, tongue, {}, { headers })).tasks
      expect(plain?.json).not.toHaveProperty('artifacts')
      const [full] = (await list(server, tongue, { includeArtifacts: true }, { headers })).tasks
      expect(full?.artifacts).toMatchObject([{ text: 'one two' }])
      const [bare] = (await list(server, tongue, { includeArtifacts: false }, { headers })).tasks
      expect(bare?.json).not.toHaveProperty('artifacts')
    })

    it('holds so much history as is asked for', async () => {
      const headers = as(own('owner'))
      await sendForTask(server, tongue, { headers, agent: 'clerk' })
      const [one] = (await list(server, tongue, { historyLength: 1 }, { headers })).tasks
      expect(one?.history?.map(({ text }) => text)).toEqual(['which city?'])
    })

    it.each([
      { pageSize: 0 },
      { pageSize: 101 },
      { pageSize: -1 },
      { pageSize: 'x' },
      { historyLength: -1 },
      { status: 'done' },
      { status: 'TASK_STATE_NOWHERE' },
      { statusTimestampAfter: 'yesterday' },
      { pageToken: 'not a token' },
      { includeArtifacts: 'perhaps' },
    ])('refuses %j', async query => {
      const headers = as(own('owner'))
      const heard = await hear(server, tongue, callOf(tongue, 'list', { list: query }, { headers }))
      expectError(tongue, heard, 'invalidParams')
    })

    it('goes on only with the filter with which it began', async () => {
      const headers = as(own('owner'))
      const contextId = own('context')
      for (let count = 0; count < 3; count++) await sendForTask(server, tongue, { headers, contextId })
      const { nextPageToken: pageToken } = await list(server, tongue, { pageSize: 1, contextId }, { headers })
      const same = { pageToken, contextId, pageSize: 2, historyLength: 0, includeArtifacts: true }
      expect((await list(server, tongue, same, { headers })).tasks).toHaveLength(2)
      for (const other of [
        {},
        { contextId: own('context') },
        { contextId, status: 'TASK_STATE_COMPLETED' },
      ]) {
        const query = { ...other, pageToken }
        const heard = await hear(server, tongue, callOf(tongue, 'list', { list: query }, { headers }))
        const { message, json } = expectError(tongue, heard, 'invalidParams')
        expect(message).toBe('`pageToken` is of a list with another filter')
        expect(JSON.stringify(json)).toContain('"field":"pageToken"')
      }
    })

    it('names the page token that is none', async () => {
      const headers = as(own('owner'))
      for (const pageToken of ['x', 'MTIzIGE', '.', 'MTIzIGE.'.repeat(1000)]) {
        const call = callOf(tongue, 'list', { list: { pageToken } }, { headers })
        const { message } = expectError(tongue, await hear(server, tongue, call), 'invalidParams')
        expect(message).toMatch(/^`pageToken` /)
      }
    })

    it('does not tell of a bare message', async () => {
      const headers = as(own('owner'))
      await send(server, tongue, { headers, agent: 'says' })
      await sendForTask(server, tongue, { headers })
      await eventually(async () => {
        const page = await list(server, tongue, {}, { headers })
        expect(page).toMatchObject({ totalSize: 1, tasks: [{ state: 'completed' }] })
      })
    })

    it('needs a context where nobody is known, unless an option says otherwise', async () => {
      const refused = await hear(server, tongue, callOf(tongue, 'list', {}))
      expectError(tongue, refused, 'invalidParams')
      const contextId = own('context')
      const { id } = await sendForTask(server, tongue, { contextId })
      expect(idsOf((await list(server, tongue, { contextId })).tasks)).toEqual([id])
      const open = await list(server, tongue, { pageSize: 100 }, { base: '/open' })
      expect(open.totalSize).toBeGreaterThan(0)
    })
  })
}
