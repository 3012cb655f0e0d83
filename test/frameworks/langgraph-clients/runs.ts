/** Checks of runs and their streams. */
import { createConnection, createServer } from 'node:net'
import {
  brief,
  type Check,
  errorOf,
  type Frame,
  isUuid,
  LINES,
  lastValues,
  messagesOf,
  of,
  pause,
  rises,
  said,
  statusOf,
  textOf,
  until,
  type Way,
} from './way.ts'

const NONE = '00000000-0000-4000-8000-000000000000'

/** The text that the pieces of one message make. */
const joined = (frames: readonly Frame[], id?: string) =>
  of(frames, 'messages')
    .map(({ data }) => data[0])
    .filter(message => message.type !== 'tool' && (id === undefined || message.id === id))
    .map(message => textOf(message.content))
    .join('')

const counted = (count: number) => Array.from({ length: count }, (_, at) => `${at + 1} `).join('')

/** The answer of the last message of the agent. */
const answerIn = (values: unknown) => textOf(messagesOf(values).at(-1)?.content)

/** Starts a run in the background, and waits until it is at work. */
async function started(way: Way, thread: string, count: string, options: object = {}): Promise<string> {
  const input = said(count)
  const { run_id } = await way.client.runs.create(thread, 'slow', { input, streamResumable: true, ...options } as never)
  await until(() => way.runStatus(thread, run_id), status => status !== 'pending')
  return run_id
}

/** The last status, once the run has ended. */
const endOf = (way: Way, thread: string, run: string) =>
  until(() => way.runStatus(thread, run), status => !['pending', 'running'].includes(status))

/** A proxy that cuts the connection of each stream once, after so many bytes. */
async function cutting(target: string, bytes: number): Promise<{ readonly url: string; close(): void }> {
  const { hostname, port, pathname } = new URL(target)
  let left = 1
  const server = createServer(socket => {
    const other = createConnection(Number(port), hostname)
    let seen = 0
    let isStream = false
    socket.on('data', data => {
      if (String(data).includes('/runs/stream')) isStream = true
      other.write(data)
    })
    other.on('data', data => {
      socket.write(data)
      seen += data.length
      if (isStream && left > 0 && seen > bytes) {
        left--
        setTimeout(() => {
          socket.resetAndDestroy()
          other.destroy()
        }, 20)
      }
    })
    for (const [one, two] of [[socket, other], [other, socket]] as const) {
      one.on('error', () => two.destroy())
      one.on('close', () => two.destroy())
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as { readonly port: number }
  return { url: `http://127.0.0.1:${own}${pathname.replace(/\/$/, '')}`, close: () => void server.close() }
}

export const runChecks: readonly Check[] = [
  [
    '11 values',
    async way => {
      const frames = await way.say(await way.make(), 'talks', 'hi', { streamMode: 'values' })
      way.fact('metadata first', frames[0]?.event, 'metadata')
      way.fact('run id', isUuid(frames[0]?.data.run_id))
      way.fact('messages', brief(lastValues(frames).messages), ['human hi', 'ai You said hi, message 1.'])
      way.fact('ids', lastValues(frames).messages.every(({ id }) => typeof id === 'string' && id !== ''))
      way.fact('only values', [...new Set(frames.map(each => each.event))], ['metadata', 'values'])
      way.fact('the message first', brief(of(frames, 'values')[0]?.data.messages ?? []), ['human hi'])
    },
  ],
  [
    '11 values by default',
    async way => {
      const frames = await way.say(await way.make(), 'talks', 'hi')
      way.fact('events', [...new Set(frames.map(each => each.event))], ['metadata', 'values'])
    },
  ],
  [
    '11 a second turn',
    async way => {
      const thread = await way.told('talks', 'one')
      const frames = await way.say(thread, 'talks', 'two')
      const all = ['human one', 'ai You said one, message 1.', 'human two', 'ai You said two, message 2.']
      way.fact('values', brief(lastValues(frames).messages), all)
      way.fact('state', brief(await way.messages(thread)), all)
      way.fact('ids in state', (await way.messages(thread)).map(({ id }) => id), lastValues(frames).messages.map(({ id }) => id))
      const inside = (await way.client.threads.get(thread)).values
      way.fact('values of the thread', brief(messagesOf(inside)), all)
    },
  ],
  [
    '11 forms of input',
    async way => {
      const forms = [
        { messages: [{ type: 'human', content: 'hi', id: 'own' }] },
        { messages: [['user', 'hi']] },
        { messages: { role: 'user', content: 'hi' } },
        { messages: 'hi' },
        { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] },
      ]
      for (const [at, input] of forms.entries()) {
        const frames = await way.all(way.stream(await way.make(), 'talks', input))
        const { messages } = lastValues(frames)
        way.fact(`form ${at + 1}`, brief(messages), ['human hi', 'ai You said hi, message 1.'])
        if (at === 0) way.fact('own id', messages[0]?.id, 'own')
      }
    },
  ],
  [
    '12 messages in pieces',
    async way => {
      const streamMode = ['values', 'messages-tuple']
      const frames = await way.say(await way.make(), 'talks', 'hi', { streamMode })
      const last = lastValues(frames).messages.at(-1)
      way.fact('joined', joined(frames, last?.id), 'You said hi, message 1.')
      way.fact('pieces', of(frames, 'messages').length >= 5)
      const about = of(frames, 'messages').map(({ data }) => data[1])
      way.fact('node', [...new Set(about.map(each => each.langgraph_node))], ['agent'])
      way.fact('run', about.every(each => each.run_id === frames[0]?.data.run_id))
      const ids = new Set(of(frames, 'messages').map(({ data }) => data[0].id))
      way.fact('one id', ids.size, 1)
    },
  ],
  [
    '12 whole messages',
    async way => {
      const frames = await way.say(await way.make(), 'talks', 'hi', { streamMode: ['messages', 'values'] })
      const partial = of(frames, 'messages/partial').map(({ data }) => data[0])
      const [first] = of(frames, 'messages/metadata')
      way.fact('metadata', Object.keys(first?.data ?? {})[0] === partial[0]?.id)
      way.fact('grows', partial.length > 1 && partial.every((each, at) => textOf(each.content).startsWith(textOf(partial[at - 1]?.content ?? ''))))
      way.fact('complete', brief(of(frames, 'messages/complete').map(({ data }) => data[0])), [
        'human hi',
        'ai You said hi, message 1.',
      ])
    },
  ],
  [
    '13 a call of a tool',
    async way => {
      const streamMode = ['values', 'messages-tuple']
      const frames = await way.say(await way.make(), 'talks', 'weather', { streamMode })
      const { messages } = lastValues(frames)
      way.fact('messages', brief(messages), ['human weather', 'ai', 'tool 21C in Paris', 'ai It is 21C in Paris.'])
      const [call] = messages[1]?.tool_calls ?? []
      way.fact('call', [call?.name, call?.args], ['get_weather', { city: 'Paris' }])
      const pieces = of(frames, 'messages')
        .filter(({ data }) => data[0].id === messages[1]?.id)
        .flatMap(({ data }) => data[0].tool_call_chunks ?? [])
      way.fact('pieces', JSON.parse(pieces.map(({ args }) => args).join('')), { city: 'Paris' })
      way.fact('first piece', [pieces[0]?.name, pieces[0]?.id === call?.id, pieces[0]?.index], ['get_weather', true, 0])
      way.fact('result', messages[2]?.tool_call_id === call?.id)
      const result = of(frames, 'messages').find(({ data }) => data[0].type === 'tool')
      way.fact('result in the stream', result?.data[0].content, '21C in Paris')
      way.fact('same id', result?.data[0].id === messages[2]?.id)
      const order = of(frames, 'messages').map(({ data }) => data[0].id)
      way.fact('order', [...new Set(order)].join() === messages.slice(1).map(({ id }) => id).join())
    },
  ],
  [
    '14 several modes',
    async way => {
      const thread = await way.make()
      const stream_mode = ['values', 'messages-tuple', 'updates', 'custom', 'tasks', 'tools', 'debug', 'events', 'checkpoints']
      const body = { assistant_id: 'talks', input: said('weather'), stream_mode, stream_resumable: true }
      const answer = await way.post(`/threads/${thread}/runs/stream`, body)
      const text = await answer.text()
      const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
      way.fact('status', answer.status, 200)
      way.fact('type', answer.headers.get('content-type')?.split(';')[0], 'text/event-stream')
      way.fact('ids rise', rises(ids))
      way.fact('first id', ids[0], 0)
      way.fact('each has one', ids.length === text.match(/^event: /gm)?.length)
      const place = answer.headers.get('content-location')?.split('/') ?? []
      way.fact('content-location', [place[1], place[2] === thread, place[3], isUuid(place[4])], ['threads', true, 'runs', true])
      way.fact('location', answer.headers.has('location'))
    },
  ],
  [
    '15 updates, custom, tools and tasks',
    async way => {
      const streamMode = ['updates', 'custom', 'tools', 'tasks']
      const frames = await way.say(await way.make(), 'talks', 'weather', { streamMode })
      const updates = of(frames, 'updates').map(({ data }) => data)
      way.fact('updates', updates.map(each => Object.keys(each).join()), ['agent', 'tools', 'agent'])
      way.fact('messages in these', updates.flatMap(each => Object.values(each).flatMap(part => brief(messagesOf(part)))), [
        'ai',
        'tool 21C in Paris',
        'ai It is 21C in Paris.',
      ])
      way.fact('custom', of(frames, 'custom').length > 0)
      way.fact('tasks begin', of(frames, 'tasks').some(({ data }) => 'triggers' in data))
      way.fact('tasks end', of(frames, 'tasks').some(({ data }) => 'result' in data))
      way.fact('tools', of(frames, 'tools').map(({ data }) => data.event), ['on_tool_start', 'on_tool_end'])
    },
  ],
  [
    '16 the id of a run',
    async way => {
      const thread = await way.make()
      const created: unknown[] = []
      const onRunCreated = (about: unknown) => created.push(about)
      const frames = await way.say(thread, 'talks', 'hi', { onRunCreated })
      way.fact('in a thread', created, [{ thread_id: thread, run_id: frames[0]?.data.run_id }])
      created.length = 0
      const alone = await way.say(null, 'talks', 'hi', { onRunCreated })
      const [about] = created as { run_id?: string; thread_id?: string }[]
      way.fact('alone', [about?.run_id === alone[0]?.data.run_id, about?.thread_id ?? null], [true, null])
    },
  ],
  [
    '17 waits for values',
    async way => {
      const values = await way.client.runs.wait(await way.make(), 'talks', { input: said('hi') })
      way.fact('values', brief(messagesOf(values)), ['human hi', 'ai You said hi, message 1.'])
      const raw = await way.client.runs.wait(await way.make(), 'fails', { input: said('hi'), raiseError: false } as never)
      way.fact('raw error', Object.keys((raw as { __error__?: object }).__error__ ?? {}).toSorted(), ['error', 'message'])
    },
  ],
  [
    '17 a run that fails',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      fact('wait throws', (await errorOf(client.runs.wait(thread, 'fails', { input: said('hi') }))) !== undefined)
      const frames = await way.say(thread, 'fails', 'again').catch(() => [] as Frame[])
      const [error] = of(frames, 'error')
      fact('frame', Object.keys(error?.data ?? {}).toSorted(), ['error', 'message'])
      fact('is the last', frames.at(-1)?.event, 'error')
      const { status, values } = await client.threads.get(thread)
      fact('thread', status, 'error')
      fact('keeps the message', brief(messagesOf(values))[0], 'human hi')
      const [run] = await client.runs.list(thread)
      fact('run', run?.status, 'error')
      const state = await client.threads.getState(thread)
      fact('error in the state', typeof state.tasks.at(-1)?.error, 'string')
      await way.say(thread, 'fails', 'third').catch(() => {})
      fact('tells no secret', JSON.stringify(error?.data).includes('model exploded'), false)
    },
  ],
  [
    '18 a run in the background',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const run = await client.runs.create(thread, 'slow', { input: said('10'), metadata: { own: 'yes' } })
      fact('status', ['pending', 'running'].includes(run.status))
      fact('names', [run.thread_id === thread, isUuid(run.run_id), isUuid(run.assistant_id)], [true, true, true])
      fact('metadata', run.metadata?.own, 'yes')
      await until(() => way.runStatus(thread, run.run_id), status => status === 'running', 5000)
      fact('thread is busy', (await client.threads.get(thread)).status, 'busy')
      const search = { ids: [thread], status: 'busy' } as const
      fact('found as busy', (await client.threads.search(search as never)).length, 1)
      const values = await client.runs.join(thread, run.run_id)
      fact('joined', answerIn(values), counted(10))
      const got = await client.runs.get(thread, run.run_id)
      fact('get', got.status, 'success')
      fact('assistant', got.assistant_id === run.assistant_id)
      fact('list', (await client.runs.list(thread)).map(({ run_id }) => run_id === run.run_id), [true])
      fact('list success', (await client.runs.list(thread, { status: 'success' })).length, 1)
      fact('list pending', (await client.runs.list(thread, { status: 'pending' })).length, 0)
      fact('join again', answerIn(await client.runs.join(thread, run.run_id)), counted(10))
      fact('unknown', await statusOf(client.runs.get(thread, NONE)), 404)
      fact('delete', (await client.runs.delete(thread, run.run_id)) ?? null, null)
      fact('deleted', await statusOf(client.runs.get(thread, run.run_id)), 404)
    },
  ],
  [
    '19 reject',
    async way => {
      const thread = await way.make()
      const run = await started(way, thread, '20')
      const begun = Date.now()
      const status = await statusOf(way.say(thread, 'slow', '1', { multitaskStrategy: 'reject' }))
      way.fact('status', [409, 422].includes(Number(status)))
      way.fact('no retries', Date.now() - begun < 2000)
      await way.client.runs.join(thread, run)
      way.fact('the first goes on', brief(await way.messages(thread)), ['human 20', `ai ${counted(20)}`.trim()])
    },
  ],
  [
    '19 no strategy while busy',
    async way => {
      const thread = await way.make()
      const run = await started(way, thread, '20')
      way.fact('status', await statusOf(way.say(thread, 'slow', '2')), 200)
      await way.client.runs.join(thread, run)
    },
  ],
  [
    '20 enqueue',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const first = await started(way, thread, '15')
      const options = { multitaskStrategy: 'enqueue' }
      const second = await client.runs.create(thread, 'slow', { input: said('2'), ...options } as never)
      const third = await client.runs.create(thread, 'slow', { input: said('3'), ...options } as never)
      fact('pending', [second.status, third.status], ['pending', 'pending'])
      fact('list', (await client.runs.list(thread, { status: 'pending' })).length, 2)
      await client.runs.join(thread, third.run_id)
      await endOf(way, thread, first)
      fact('in order', brief(await way.messages(thread)).map(each => each.split(' ').slice(0, 2).join(' ')), [
        'human 15',
        'ai 1',
        'human 2',
        'ai 1',
        'human 3',
        'ai 1',
      ])
      fact('all ended', (await client.runs.list(thread)).map(({ status }) => status), ['success', 'success', 'success'])
    },
  ],
  [
    '21 interrupt',
    async way => {
      const thread = await way.make()
      const first = await started(way, thread, '60')
      const frames = await way.say(thread, 'slow', '2', { multitaskStrategy: 'interrupt' })
      way.fact('old', await endOf(way, thread, first), 'interrupted')
      way.fact('new', brief(lastValues(frames).messages).at(-1), 'ai 1 2')
      const texts = brief(await way.messages(thread)).filter(each => each.startsWith('human'))
      way.fact('messages of the user', texts, ['human 60', 'human 2'])
    },
  ],
  [
    '22 rollback',
    async way => {
      const thread = await way.told('slow', '1')
      const first = await started(way, thread, '60')
      const frames = await way.say(thread, 'slow', '2', { multitaskStrategy: 'rollback' })
      way.fact('new', brief(lastValues(frames).messages).at(-1), 'ai 1 2')
      way.fact('without the old turn', brief(await way.messages(thread)), ['human 1', 'ai 1', 'human 2', 'ai 1 2'])
      way.fact('old run', await statusOf(way.client.runs.get(thread, first)), 404)
    },
  ],
  [
    '23 cancel',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const first = await started(way, thread, '60')
      fact('answer', (await client.runs.cancel(thread, first)) ?? null, null)
      fact('ends', await endOf(way, thread, first), 'interrupted')
      const second = await started(way, thread, '60')
      await client.runs.cancel(thread, second, true)
      fact('waited', await way.runStatus(thread, second), 'interrupted')
      fact('unknown', await statusOf(client.runs.cancel(thread, NONE)), 404)
      const now = await way.ask(`/threads/${thread}/runs/${second}/cancel?wait=0`, { method: 'POST' })
      fact('once more', now.status < 500)
      const { status } = await client.threads.get(thread)
      fact('thread', status, 'idle')
      fact('nothing is next', (await client.threads.getState(thread)).next, [])
      const frames = await way.say(thread, 'slow', '2')
      fact('goes on', brief(lastValues(frames).messages).at(-1), 'ai 1 2')
    },
  ],
  [
    '23 cancel with rollback',
    async way => {
      const thread = await way.told('slow', '1')
      const run = await started(way, thread, '60')
      await way.client.runs.cancel(thread, run, true, 'rollback')
      way.fact('without the turn', brief(await way.messages(thread)), ['human 1', 'ai 1'])
    },
  ],
  [
    '24 leaves and joins',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const streamMode = ['messages-tuple', 'values']
      const leave = new AbortController()
      const options = { streamMode, streamResumable: true, onDisconnect: 'continue', signal: leave.signal }
      const seen: Frame[] = []
      try {
        for await (const frame of way.stream(thread, 'slow', said('20'), options)) {
          seen.push(frame)
          if (of(seen, 'messages').length === 5) leave.abort()
        }
      } catch {}
      fact('left in the middle', of(seen, 'messages').length, 5)
      const run = seen[0]?.data.run_id
      const lastEventId = seen.at(-1)?.id ?? ''
      const rest = await way.all(client.runs.joinStream(thread, run, { lastEventId, streamMode } as never) as never)
      fact('whole', joined([...seen, ...rest]), counted(20))
      fact('values last', brief(lastValues(rest).messages).at(-1), `ai ${counted(20)}`.trim())
      const ids = [...seen, ...rest].map(({ id }) => Number(id))
      fact('no frame twice', rises(ids))
      const again = await way.all(client.runs.joinStream(thread, run, { lastEventId: '-1', streamMode } as never) as never)
      fact('same as the whole', again.map(({ id }) => Number(id)), ids)
      fact('ended well', await way.runStatus(thread, run), 'success')
    },
    { lines: LINES.filter(line => line !== 'sdk-1.0') },
  ],
  [
    '25 joins a finished run',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const streamMode = ['messages-tuple', 'values']
      const run = await started(way, thread, '10', { streamMode })
      const read = () => way.all(client.runs.joinStream(thread, run, { lastEventId: '-1', streamMode } as never) as never)
      const [one, two] = await Promise.all([read(), read()])
      fact('both read all', [joined(one), joined(two)], [counted(10), counted(10)])
      const third = await read()
      fact('the same after the end', joined(third), counted(10))
      fact('first frame', third[0]?.event, 'metadata')
      const plainly = await way.all(client.runs.joinStream(thread, run, { streamMode } as never) as never)
      fact('without a header', joined(plainly), counted(10))
      const unknown = client.runs.joinStream(thread, NONE, { streamMode } as never) as never
      const error = await way.all(unknown).then(frames => frames[0]?.event, () => 'error')
      fact('unknown', error, 'error')
    },
  ],
  [
    '26 stops with its client',
    async way => {
      const thread = await way.make()
      const leave = new AbortController()
      let run = ''
      try {
        const options = { onDisconnect: 'cancel', signal: leave.signal, streamMode: 'messages-tuple' }
        for await (const frame of way.stream(thread, 'slow', said('100'), options)) {
          run ||= frame.data.run_id ?? ''
          if (frame.event === 'messages') leave.abort()
        }
      } catch {}
      way.fact('run', await endOf(way, thread, run), 'interrupted')
    },
  ],
  [
    '27 a connection that is cut',
    async way => {
      const proxy = await cutting(way.server.url, 3000)
      try {
        const client = way.connect('ann', proxy.url)
        const { thread_id: thread } = await client.threads.create()
        const frames: Frame[] = []
        const options = { streamMode: ['messages-tuple', 'values'], streamResumable: true, input: said('30') }
        const error = await errorOf(
          (async () => {
            for await (const frame of client.runs.stream(thread, 'slow', options as never)) frames.push(frame as never)
          })(),
        )
        way.fact('no error', error ?? null, null)
        way.fact('whole', joined(frames), counted(30))
      } finally {
        proxy.close()
      }
    },
    { lines: LINES.filter(line => line !== 'sdk-1.0') },
  ],
  [
    '28 silence',
    async way => {
      const frames = await way.say(await way.make(), 'slow', 'quiet', { streamMode: ['messages-tuple', 'values'] })
      way.fact('no other events', [...new Set(frames.map(({ event }) => event))], ['metadata', 'values', 'messages'])
      way.fact('text', joined(frames), '1 ')
    },
  ],
  [
    '36 runs without a thread',
    async way => {
      const { client, fact } = way
      const before = (await client.threads.search({ limit: 1000 })).length
      const frames = await way.say(null, 'talks', 'hi', { streamMode: ['values', 'messages-tuple'] })
      fact('stream', brief(lastValues(frames).messages), ['human hi', 'ai You said hi, message 1.'])
      fact('pieces', joined(frames), 'You said hi, message 1.')
      const values = await client.runs.wait(null, 'talks', { input: said('hi') })
      fact('wait', brief(messagesOf(values)), ['human hi', 'ai You said hi, message 1.'])
      await pause(500)
      fact('no thread is left', (await client.threads.search({ limit: 1000 })).length, before)
      const batch = await client.runs.createBatch([
        { assistantId: 'talks', input: said('one') },
        { assistantId: 'talks', input: said('two') },
      ])
      fact('batch', batch.map(({ run_id }) => isUuid(run_id)), [true, true])
    },
    { alone: true },
  ],
]
