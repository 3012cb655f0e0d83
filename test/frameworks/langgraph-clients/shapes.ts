/** Checks of what answers have in them, and of what servable does not have. */
import { type Check, of, said, statusOf, type Way } from './way.ts'

/** The members that an object lacks. */
const lacking = (value: unknown, names: readonly string[]) =>
  names.filter(name => !(name in (Object(value) as object)))

const THREAD = ['thread_id', 'created_at', 'updated_at', 'metadata', 'status', 'config']
const RUN = [
  ...['run_id', 'thread_id', 'assistant_id', 'metadata', 'status', 'kwargs'],
  ...['multitask_strategy', 'created_at', 'updated_at'],
]
const STATE = ['values', 'next', 'tasks', 'metadata', 'created_at', 'checkpoint', 'parent_checkpoint']
const ASSISTANT = [
  ...['assistant_id', 'graph_id', 'name', 'description', 'version', 'config', 'context', 'metadata'],
  ...['created_at', 'updated_at'],
]
const TASK = ['id', 'name', 'error', 'interrupts']

/** Asks for what may not be there: the status, and whether it was told at once. */
async function tried(asked: Promise<unknown>): Promise<number | string> {
  const begun = Date.now()
  const status = await statusOf(asked)
  return Date.now() - begun > 5000 ? `${status} after retries` : status
}

/** The status of a run with an option. */
async function withOption(way: Way, options: object): Promise<number | string> {
  return tried(way.say(await way.make(), 'talks', 'weather', options))
}

export const shapeChecks: readonly Check[] = [
  [
    '5 members of answers',
    async way => {
      const { client, fact } = way
      fact('assistant', lacking(await client.assistants.get('talks'), ASSISTANT), [])
      fact('new thread', lacking(await client.threads.get(await way.make()), THREAD), [])
      const thread = await way.told('talks', 'weather')
      fact('thread', lacking(await client.threads.get(thread), [...THREAD, 'values']), [])
      const [run] = await client.runs.list(thread)
      fact('run', lacking(run, RUN), [])
      const [human, ai, tool] = await way.messages(thread)
      fact('human message', lacking(human, ['type', 'id', 'content']), [])
      fact('ai message', lacking(ai, ['type', 'id', 'content', 'tool_calls']), [])
      fact('tool message', lacking(tool, ['type', 'id', 'content', 'tool_call_id', 'name']), [])
      const waits = await way.told('pays', '5')
      const state = await client.threads.getState(waits)
      fact('state', lacking(state, STATE), [])
      fact('checkpoint', lacking(state.checkpoint, ['thread_id', 'checkpoint_ns', 'checkpoint_id']), [])
      fact('task', lacking(state.tasks[0], TASK), [])
      fact('interrupts of the thread', lacking(await client.threads.get(waits), ['interrupts']), [])
    },
  ],
  [
    '16 the id of a run in headers',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const created: string[] = []
      const onRunCreated = ({ run_id }: { readonly run_id: string }) => void created.push(run_id)
      const run = await client.runs.create(thread, 'talks', { input: said('one'), onRunCreated } as never)
      await client.runs.join(thread, run.run_id)
      await client.runs.wait(thread, 'talks', { input: said('two'), onRunCreated } as never)
      fact('create', created[0] === run.run_id)
      fact(
        'wait',
        (await client.runs.list(thread)).some(each => each.run_id === created[1]),
      )
    },
  ],
  [
    '14 pieces of agents inside',
    async way => {
      const streamMode = ['values', 'messages-tuple']
      const frames = await way.say(await way.make(), 'talks', 'hi', { streamMode, streamSubgraphs: true })
      const names = new Set(frames.map(({ event }) => event.split('|')[0]))
      way.fact(
        'events',
        ['metadata', 'values', 'messages'].every(name => names.has(name)),
      )
      way.fact(
        'values stay plain',
        frames.some(({ event }) => event === 'values'),
      )
      way.fact('pieces', of(frames, 'messages').length > 2)
    },
  ],
  [
    '41 assistants of a client',
    async ({ client, fact }) => {
      const made = client.assistants.create({ graphId: 'talks' })
      fact('create', await tried(made), 200)
      await made.then(({ assistant_id: id }) => client.assistants.delete(id)).catch(() => {})
    },
    { alone: true },
  ],
  [
    '41 a store of items',
    async ({ client, fact }) => {
      const put = client.store.putItem(['users', 'ann'], 'color', { is: 'red' })
      fact('put', await tried(put), 200)
      fact('get', await tried(client.store.getItem(['users', 'ann'], 'color')), 200)
      fact('search', await tried(client.store.searchItems(['users'])), 200)
    },
  ],
  [
    '41 breakpoints',
    async way => {
      way.fact('interrupt before', await withOption(way, { interruptBefore: ['tools'] }), 200)
      way.fact('interrupt after', await withOption(way, { interruptAfter: '*' }), 200)
      way.fact('none', await withOption(way, { interruptBefore: [], interruptAfter: [] }), 200)
    },
  ],
  [
    '41 options of a run',
    async way => {
      const { fact } = way
      fact('durability', await withOption(way, { durability: 'sync' }), 200)
      fact('checkpoint during', await withOption(way, { checkpointDuring: true }), 200)
      fact(
        'config',
        await withOption(way, { config: { tags: ['a'], recursion_limit: 10, configurable: { x: 1 } } }),
        200,
      )
      fact('context', await withOption(way, { context: { x: 1 } }), 200)
      fact('metadata', await withOption(way, { metadata: { x: 1 } }), 200)
      fact('goto', await withOption(way, { command: { goto: 'tools' } }), 200)
      fact('webhook', await withOption(way, { webhook: 'http://127.0.0.1:9/hook' }), 200)
      fact('after seconds', await withOption(way, { afterSeconds: 1 }), 200)
      const other = await way.post(`/threads/${await way.make()}/runs/wait`, {
        ...{ assistant_id: 'talks', input: said('hi'), unknown: 1 },
      })
      fact('unknown field', other.status, 200)
      const none = await way.post(`/threads/${await way.make()}/runs/wait`, { input: said('hi') })
      fact('no assistant', none.status >= 400 && none.status < 500)
    },
  ],
]
