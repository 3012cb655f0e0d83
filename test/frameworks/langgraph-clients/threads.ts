/** Checks of assistants and threads. */
import { type Check, isUuid, NONE, same, statusOf } from './way.ts'

const AGENTS = ['asks', 'fails', 'pays', 'slow', 'talks']

export const threadChecks: readonly Check[] = [
  [
    '1 search of assistants',
    async ({ client, fact }) => {
      const all = await client.assistants.search({ limit: 100 })
      fact('has all agents', all.map(each => each.graph_id).toSorted(), AGENTS)
      const some = await client.assistants.search({ graphId: 'pays' })
      fact(
        'by graph',
        some.map(each => each.graph_id),
        ['pays'],
      )
    },
  ],
  [
    '2 an assistant by its name and by its id',
    async ({ client, fact }) => {
      const byName = await client.assistants.get('talks')
      fact('id', isUuid(byName.assistant_id))
      fact('same', same(await client.assistants.get(byName.assistant_id), byName))
      fact('name', [byName.graph_id, byName.name, byName.version], ['talks', 'talks', 1])
    },
  ],
  [
    '3 schemas and graph',
    async ({ client, fact }) => {
      const schemas = await client.assistants.getSchemas('talks')
      fact('schemas', schemas.graph_id, 'talks')
      const { nodes, edges } = await client.assistants.getGraph('talks')
      const ids = nodes.map(({ id }) => String(id))
      fact(
        'ends',
        ['__start__', '__end__'].every(id => ids.includes(id)),
      )
      fact('edges', edges.length > 0)
      fact('subgraphs', await client.assistants.getSubgraphs('talks'), {})
    },
  ],
  [
    '4 an unknown assistant',
    async way => {
      way.fact('get', await statusOf(way.client.assistants.get('nope')), 404)
      way.fact('graph', await statusOf(way.client.assistants.getGraph(NONE)), 404)
      way.fact('run', await statusOf(way.say(await way.make(), 'nope', 'hi')), 404)
    },
  ],
  [
    '5 a new thread',
    async ({ client, fact }) => {
      const thread = await client.threads.create({ metadata: { of: 'check 5' } })
      fact('id', isUuid(thread.thread_id))
      fact('status', thread.status, 'idle')
      fact('values', thread.values ?? null, null)
      fact('metadata', thread.metadata, { of: 'check 5' })
      fact('interrupts', Object.keys(thread.interrupts ?? {}), [])
      fact('same when read', same(await client.threads.get(thread.thread_id), thread))
    },
  ],
  [
    '6 a thread with the id of another',
    async ({ client, fact }) => {
      const threadId = crypto.randomUUID()
      await client.threads.create({ threadId })
      fact('again', await statusOf(client.threads.create({ threadId })), 409)
      fact('raise', await statusOf(client.threads.create({ threadId, ifExists: 'raise' })), 409)
      const same = await client.threads.create({ threadId, ifExists: 'do_nothing' })
      fact('do nothing', same.thread_id === threadId)
    },
  ],
  [
    '7 an unknown thread',
    async way => {
      const { client, fact } = way
      fact('get', await statusOf(client.threads.get(NONE)), 404)
      fact('state', await statusOf(client.threads.getState(NONE)), 404)
      fact('history', await statusOf(client.threads.getHistory(NONE)), 404)
      fact('runs', await statusOf(client.runs.list(NONE)), 404)
      fact('run', await statusOf(way.say(NONE, 'talks', 'hi')), 404)
      const ids = await statusOf(client.threads.get('no-uuid'))
      fact('no uuid', [400, 404, 422].includes(Number(ids)))
      fact('bad body', (await way.post(`/threads/search`, 'text')).status < 500)
      const bad = await way.ask('/threads', { method: 'POST', body: '{' })
      fact('bad JSON', [400, 422].includes(bad.status))
      fact('unknown route', (await way.ask('/nowhere')).status, 404)
    },
  ],
  [
    '8 metadata and search',
    async way => {
      const { client, fact } = way
      const mark = crypto.randomUUID()
      const made: string[] = []
      for (const at of [1, 2, 3]) {
        const { thread_id } = await client.threads.create({ metadata: { mark, at } })
        made.push(thread_id)
      }
      const [first = '', second = ''] = made
      const changed = await client.threads.update(first, { metadata: { more: { a: 1 } } })
      fact('merged', changed.metadata, { mark, at: 1, more: { a: 1 } })
      const metadata = { mark }
      const ids = async (query: object) =>
        (await client.threads.search({ metadata, ...query })).map(each => made.indexOf(each.thread_id) + 1)
      fact('newest first', await ids({}), [3, 2, 1])
      fact('sorted', await ids({ sortBy: 'created_at', sortOrder: 'asc' }), [1, 2, 3])
      fact('by the last change', (await ids({ sortBy: 'updated_at', sortOrder: 'desc' }))[0], 1)
      fact('page', await ids({ limit: 1, offset: 1 }), [2])
      fact('part of an object', await ids({ metadata: { mark, more: { a: 1 } } }), [1])
      fact('by more', await ids({ metadata: { mark, at: 2 } }), [2])
      await way.say(second, 'fails', 'hi').catch(() => {})
      fact('by status', await ids({ status: 'error' }), [2])
      fact('by idle', await ids({ status: 'idle' }), [3, 1])
      const found = await way.ask('/threads/search', {
        method: 'POST',
        headers: { origin: 'http://page.test' },
        body: JSON.stringify({ metadata, limit: 2, select: ['thread_id'] }),
      })
      fact('total', found.headers.get('x-pagination-total'), '3')
      fact(
        'selected',
        (await found.json()).map((each: object) => Object.keys(each).join()),
        ['thread_id', 'thread_id'],
      )
      const exposed = found.headers.get('access-control-expose-headers') ?? ''
      fact('pages may read', exposed.includes('content-location'))
    },
  ],
  [
    '8 metadata of a run',
    async ({ client, fact, told }) => {
      const thread = await client.threads.get(await told('talks', 'hi'))
      fact('graph', thread.metadata?.graph_id, 'talks')
      const found = await client.threads.search({
        metadata: { graph_id: 'talks', assistant_id: thread.metadata?.assistant_id },
      })
      fact(
        'found',
        found.some(each => each.thread_id === thread.thread_id),
      )
    },
  ],
  [
    '9 a deleted thread',
    async ({ client, fact, told }) => {
      const thread = await told('talks', 'hi')
      fact('answer', (await client.threads.delete(thread)) ?? null, null)
      fact('again', await statusOf(client.threads.delete(thread)), 404)
      fact('get', await statusOf(client.threads.get(thread)), 404)
      fact('state', await statusOf(client.threads.getState(thread)), 404)
    },
  ],
  [
    '10 an empty thread',
    async ({ client, fact, make }) => {
      const id = await make()
      const state = await client.threads.getState(id)
      fact('next', state.next, [])
      fact('tasks', state.tasks, [])
      fact('checkpoint', state.checkpoint ?? null, null)
      fact('history', await client.threads.getHistory(id), [])
    },
  ],
  [
    '35 a copy',
    async way => {
      const { client, fact } = way
      const thread = await way.told('talks', 'one')
      const { thread_id: copy } = (await client.threads.copy(thread)) as unknown as { thread_id: string }
      fact('other id', isUuid(copy) && copy !== thread)
      const [a, b] = [await way.messages(thread), await way.messages(copy)]
      fact(
        'same messages',
        b.map(each => each.content),
        a.map(each => each.content),
      )
      await way.say(copy, 'talks', 'two')
      fact('copy goes on', (await way.messages(copy)).at(-1)?.content, 'You said two, message 2.')
      fact('first stays', (await way.messages(thread)).length, 2)
      fact('unknown', await statusOf(client.threads.copy(NONE)), 404)
    },
  ],
]
