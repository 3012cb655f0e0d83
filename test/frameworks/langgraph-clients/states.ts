/** Checks of states and checkpoints, and of what belongs to another user. */
import {
  brief,
  type Check,
  isUuid,
  lastValues,
  messagesOf,
  NONE,
  rises,
  said,
  same,
  statusOf,
  until,
  type Way,
} from './way.ts'

/** A thread that waits for an approval. */
async function paying(way: Way, amount = '5'): Promise<string> {
  return way.told('pays', amount)
}

const approve = { decisions: [{ type: 'approve' }] }

/** The id of the checkpoint at which the thread is. */
const headOf = async (way: Way, thread: string) =>
  (await way.client.threads.getState(thread)).checkpoint?.checkpoint_id ?? ''

/** The last words of the agent in a thread. */
const lastOf = async (way: Way, thread: string) => brief(await way.messages(thread)).at(-1)

/** The checkpoint before the newest message of the user. */
async function beforeLast(way: Way, thread: string) {
  const history = await way.client.threads.getHistory(thread, { limit: 100 })
  const count = messagesOf(history[0]?.values).filter(({ type }) => type === 'human').length
  const ended = history.find(
    ({ values, next }) =>
      next.length === 0 && messagesOf(values).filter(({ type }) => type === 'human').length === count - 1,
  )
  return ended?.checkpoint
}

export const stateChecks: readonly Check[] = [
  [
    '31 history',
    async way => {
      const { client, fact } = way
      const thread = await way.told('talks', 'one')
      await way.say(thread, 'talks', 'two')
      const history = await client.threads.getHistory(thread, { limit: 100 })
      fact('newest first', brief(messagesOf(history[0]?.values)).at(-1), 'ai You said two, message 2.')
      const ids = history.map(({ checkpoint }) => String(checkpoint?.checkpoint_id))
      fact('ids', ids.every(isUuid))
      fact('sort as texts', same(ids.toSorted().toReversed(), ids))
      const parents = history.slice(0, -1).map(({ parent_checkpoint: parent }) => parent?.checkpoint_id)
      fact('parents', same(parents, ids.slice(1)))
      fact('the first has none', history.at(-1)?.parent_checkpoint ?? null, null)
      fact(
        'grows',
        rises(history.toReversed().map(({ values }, at) => messagesOf(values).length * 1000 + at)),
      )
      fact('ends of turns', history.filter(({ next }) => next.length === 0).length, 2)
      fact(
        'lists',
        history.every(each => Array.isArray(each.next) && Array.isArray(each.tasks)),
      )
      fact(
        'metadata',
        history.every(({ metadata }) => typeof metadata === 'object' && metadata !== null),
      )
      fact(
        'limit',
        (await client.threads.getHistory(thread, { limit: 2 })).map(
          ({ checkpoint }) => checkpoint?.checkpoint_id,
        ),
        ids.slice(0, 2),
      )
      const before = await client.threads.getHistory(thread, { limit: 1, before: ids[0] as never })
      fact(
        'before an id',
        before.map(({ checkpoint }) => checkpoint?.checkpoint_id),
        ids.slice(1, 2),
      )
      const configurable = { thread_id: thread, checkpoint_id: ids[0], checkpoint_ns: '' }
      fact(
        'before a config',
        await statusOf(client.threads.getHistory(thread, { limit: 1, before: { configurable } as never })),
        200,
      )
    },
  ],
  [
    '32 a state at a checkpoint',
    async way => {
      const { client, fact } = way
      const thread = await way.told('talks', 'one')
      const then = await headOf(way, thread)
      await way.say(thread, 'talks', 'two')
      const byId = await client.threads.getState(thread, then)
      fact('by id', brief(messagesOf(byId.values)), ['human one', 'ai You said one, message 1.'])
      const checkpoint = { checkpoint_id: then, checkpoint_ns: '', checkpoint_map: null }
      fact('by object', same(await client.threads.getState(thread, checkpoint as never), byId))
      const head = await client.threads.getState(thread)
      const only = await way.post(`/threads/${thread}/state/checkpoint`, {
        checkpoint: { thread_id: thread },
      })
      fact('head', (await only.json()).checkpoint?.checkpoint_id === head.checkpoint?.checkpoint_id)
      fact('unknown', await statusOf(client.threads.getState(thread, NONE)), 404)
      const names = ['values', 'next', 'tasks', 'metadata', 'created_at', 'checkpoint', 'parent_checkpoint']
      fact(
        'members',
        names.filter(name => !(name in head)),
        [],
      )
      const inside = Object.keys(head.checkpoint ?? {}).toSorted()
      fact(
        'checkpoint',
        ['checkpoint_id', 'checkpoint_ns', 'thread_id'].every(key => inside.includes(key)),
      )
    },
  ],
  [
    '33 the newest checkpoint',
    async way => {
      const thread = await way.told('talks', 'one')
      const checkpoint = { checkpoint_id: await headOf(way, thread), checkpoint_ns: '', checkpoint_map: null }
      await way.say(thread, 'talks', 'two', { checkpoint })
      way.fact('appends', (await way.messages(thread)).length, 4)
      await way.say(thread, 'talks', 'three')
      way.fact('and goes on', await lastOf(way, thread), 'ai You said three, message 3.')
    },
  ],
  [
    '33 an older checkpoint',
    async way => {
      const { client, fact } = way
      const thread = await way.told('talks', 'one')
      await way.say(thread, 'talks', 'two')
      const checkpoint = await beforeLast(way, thread)
      const frames = await way.say(thread, 'talks', 'other', { checkpoint })
      const forked = [
        'human one',
        'ai You said one, message 1.',
        'human other',
        'ai You said other, message 2.',
      ]
      fact('forks', brief(lastValues(frames).messages), forked)
      fact('is the head', brief(await way.messages(thread)), forked)
      await way.say(thread, 'talks', 'three')
      fact('goes on', brief(await way.messages(thread)).slice(-2), [
        'human three',
        'ai You said three, message 3.',
      ])
      await way.say(thread, 'talks', 'four')
      fact('and on', await lastOf(way, thread), 'ai You said four, message 4.')
      const history = await client.threads.getHistory(thread, { limit: 100 })
      const texts = history.flatMap(({ values }) => brief(messagesOf(values)))
      fact('keeps the other', texts.includes('ai You said two, message 2.'))
      fact(
        'checkpoint_id alone',
        await statusOf(way.say(thread, 'talks', 'x', { checkpointId: checkpoint?.checkpoint_id })),
        200,
      )
      fact('forks too', await lastOf(way, thread), 'ai You said x, message 2.')
      fact('unknown', Number(await statusOf(way.say(thread, 'talks', 'x', { checkpointId: NONE }))) >= 400)
    },
  ],
  [
    '33 an answer again',
    async way => {
      const thread = await way.told('talks', 'one')
      const before = await way.messages(thread)
      const history = await way.client.threads.getHistory(thread)
      const asked = history.find(({ values, next }) => messagesOf(values).length === 1 && next.length === 1)
      const options = { checkpoint: asked?.checkpoint, streamMode: 'values' }
      const frames = await way.all(way.stream(thread, 'talks', undefined, options))
      const { messages } = lastValues(frames)
      way.fact('messages', brief(messages), ['human one', 'ai You said one, message 1.'])
      way.fact('same message', messages[0]?.id === before[0]?.id)
      way.fact('other answer', messages[1]?.id !== before[1]?.id)
      way.fact(
        'state',
        (await way.messages(thread)).map(({ id }) => id),
        messages.map(({ id }) => id),
      )
    },
  ],
  [
    '34 a changed state',
    async way => {
      const { client, fact } = way
      const thread = await way.told('talks', 'one')
      const [human, ai] = await way.messages(thread)
      const head = await headOf(way, thread)
      const values = { messages: [{ ...ai, content: 'changed' }] }
      const { checkpoint } = (await client.threads.updateState(thread, { values })) as never as {
        checkpoint: { checkpoint_id: string }
      }
      fact('checkpoint', [isUuid(checkpoint.checkpoint_id), checkpoint.checkpoint_id > head], [true, true])
      fact('replaced', brief(await way.messages(thread)), ['human one', 'ai changed'])
      const ids = (await way.messages(thread)).map(({ id }) => id)
      fact('same ids', same(ids, [human?.id, ai?.id]))
      await way.say(thread, 'talks', 'two')
      fact('goes on', brief(await way.messages(thread)), [
        'human one',
        'ai changed',
        'human two',
        'ai You said two, message 2.',
      ])
      await client.threads.updateState(thread, {
        values: {
          messages: [
            { type: 'human', content: 'added' },
            { type: 'ai', content: 'yes' },
          ],
        },
      })
      fact('added', brief(await way.messages(thread)).slice(-2), ['human added', 'ai yes'])
      fact('unknown', await statusOf(client.threads.updateState(NONE, { values })), 404)
      const busy = await way.make()
      const { run_id } = await client.runs.create(busy, 'slow', { input: said('20') })
      await until(
        () => way.runStatus(busy, run_id),
        status => status === 'running',
      )
      fact('busy', await statusOf(client.threads.updateState(busy, { values: said('x') as never })), 409)
      await client.runs.join(busy, run_id)
    },
  ],
  [
    '34 a changed answer after a call of a tool',
    async way => {
      const thread = await way.told('talks', 'weather')
      const { id } = (await way.messages(thread)).at(-1) ?? {}
      await way.client.threads.updateState(thread, {
        values: { messages: [{ type: 'ai', id, content: 'changed' }] },
      })
      way.fact('messages', brief(await way.messages(thread)), [
        ...['human weather', 'ai', 'tool 21C in Paris', 'ai changed'],
      ])
    },
  ],
  [
    '34 a removed message',
    async way => {
      const thread = await way.told('talks', 'one')
      await way.say(thread, 'talks', 'two')
      const all = await way.messages(thread)
      const values = { messages: all.slice(2).map(({ id }) => ({ type: 'remove', id, content: '' })) }
      await way.client.threads.updateState(thread, { values })
      way.fact('left', brief(await way.messages(thread)), ['human one', 'ai You said one, message 1.'])
    },
  ],
  [
    '40 threads of another user',
    async way => {
      const { client, fact } = way
      const thread = await paying(way)
      const [run] = await client.runs.list(thread)
      const [id, at] = [run?.run_id ?? '', await headOf(way, thread)]
      const path = `/threads/${thread}`
      const asked: [string, string, object?][] = [
        ['GET', path],
        ['PATCH', path, { metadata: { a: 1 } }],
        ['GET', `${path}/state`],
        ['GET', `${path}/state/${at}`],
        ['POST', `${path}/state`, { values: said('x') }],
        ['POST', `${path}/state/checkpoint`, { checkpoint: { checkpoint_id: at } }],
        ['POST', `${path}/history`, {}],
        ['POST', `${path}/copy`],
        ['POST', `${path}/runs`, { assistant_id: 'pays', input: said('1') }],
        ['POST', `${path}/runs/stream`, { assistant_id: 'pays', command: { resume: approve } }],
        ['POST', `${path}/runs/wait`, { assistant_id: 'pays', command: { resume: approve } }],
        ['GET', `${path}/runs`],
        ['GET', `${path}/runs/${id}`],
        ['GET', `${path}/runs/${id}/join`],
        ['GET', `${path}/runs/${id}/stream`],
        ['POST', `${path}/runs/${id}/cancel`],
        ['DELETE', `${path}/runs/${id}`],
        ['DELETE', path],
      ]
      const open: string[] = []
      for (const [method, route, body] of asked) {
        const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
        const answer = await way.ask(route, { ...init, user: 'bob' })
        await answer.text()
        if (answer.status !== 404)
          open.push(`${method} ${route.replace(path, '').replace(id, 'R').replace(at, 'C')}`)
      }
      fact('open', open, [])
      fact(
        'search',
        (await way.bob.threads.search({ limit: 1000 })).some(each => each.thread_id === thread),
        false,
      )
      fact('still there', await statusOf(client.threads.get(thread)), 200)
    },
  ],
  [
    '40 a thread named in a body',
    async way => {
      const { client, fact } = way
      const [one, two] = [await way.told('talks', 'one'), await way.make()]
      const at = await headOf(way, one)
      const config = { configurable: { thread_id: one, checkpoint_ns: '' } }
      await way.say(two, 'talks', 'two', { config })
      fact('runs in its own', brief(await way.messages(two)), ['human two', 'ai You said two, message 1.'])
      fact('not in the other', (await way.messages(one)).length, 2)
      const answer = await way.post(`/threads/${two}/state/checkpoint`, {
        checkpoint: { thread_id: one, checkpoint_id: at },
      })
      const text = await answer.text()
      fact('state', text.includes('You said one'), false)
      const history = await way.post(`/threads/${two}/history`, { checkpoint: { thread_id: one } })
      fact('history', (await history.text()).includes('You said one'), false)
      const forked = await way.post(`/threads/${two}/runs/wait`, {
        ...{ assistant_id: 'talks', input: said('x') },
        checkpoint: { thread_id: one, checkpoint_id: at, checkpoint_ns: '' },
      })
      fact('fork', (await forked.text()).includes('You said one'), false)
      await client.threads
        .updateState(two, { values: {}, checkpoint: { thread_id: one, checkpoint_ns: '' } as never })
        .catch(() => {})
      fact('the other stays', (await way.messages(one)).length, 2)
    },
  ],
]
