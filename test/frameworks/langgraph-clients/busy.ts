/** Checks of runs in the background: threads that are busy, cancels, and readers that leave and come back. */
import { createConnection, createServer } from 'node:net'
import {
  brief,
  type Check,
  counted,
  errorOf,
  type Frame,
  isUuid,
  joined,
  LINES,
  lastValues,
  messagesOf,
  NONE,
  of,
  rises,
  said,
  same,
  statusOf,
  textOf,
  until,
  type Way,
} from './way.ts'

/** The answer of the last message of the agent. */
const answerIn = (values: unknown) => textOf(messagesOf(values).at(-1)?.content)

/** Starts a run in the background, and waits until it is at work. */
async function started(way: Way, thread: string, count: string, options: object = {}): Promise<string> {
  const input = said(count)
  const { run_id } = await way.client.runs.create(thread, 'slow', {
    input,
    streamResumable: true,
    ...options,
  } as never)
  await until(
    () => way.runStatus(thread, run_id),
    status => status !== 'pending',
  )
  return run_id
}

/** The last status, once the run has ended. */
const endOf = (way: Way, thread: string, run: string) =>
  until(
    () => way.runStatus(thread, run),
    status => !['pending', 'running'].includes(status),
  )

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
    for (const [one, two] of [
      [socket, other],
      [other, socket],
    ] as const) {
      one.on('error', () => two.destroy())
      one.on('close', () => two.destroy())
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as { readonly port: number }
  return { url: `http://127.0.0.1:${own}${pathname.replace(/\/$/, '')}`, close: () => void server.close() }
}

export const busyChecks: readonly Check[] = [
  [
    '18 a run in the background',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const run = await client.runs.create(thread, 'slow', { input: said('10'), metadata: { own: 'yes' } })
      fact('status', ['pending', 'running'].includes(run.status))
      fact(
        'names',
        [run.thread_id === thread, isUuid(run.run_id), isUuid(run.assistant_id)],
        [true, true, true],
      )
      fact('metadata', run.metadata?.own, 'yes')
      await until(
        () => way.runStatus(thread, run.run_id),
        status => status === 'running',
        5000,
      )
      fact('thread is busy', (await client.threads.get(thread)).status, 'busy')
      const search = { ids: [thread], status: 'busy' } as const
      fact('found as busy', (await client.threads.search(search as never)).length, 1)
      const values = await client.runs.join(thread, run.run_id)
      fact('joined', answerIn(values), counted(10))
      const got = await client.runs.get(thread, run.run_id)
      fact('get', got.status, 'success')
      fact('assistant', got.assistant_id === run.assistant_id)
      fact(
        'list',
        (await client.runs.list(thread)).map(({ run_id }) => run_id === run.run_id),
        [true],
      )
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
      way.fact('the first goes on', brief(await way.messages(thread)), [
        'human 20',
        `ai ${counted(20)}`.trim(),
      ])
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
      fact(
        'in order',
        brief(await way.messages(thread)).map(each => each.split(' ').slice(0, 2).join(' ')),
        ['human 15', 'ai 1', 'human 2', 'ai 1', 'human 3', 'ai 1'],
      )
      fact(
        'all ended',
        (await client.runs.list(thread)).map(({ status }) => status),
        ['success', 'success', 'success'],
      )
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
      way.fact('without the old turn', brief(await way.messages(thread)), [
        'human 1',
        'ai 1',
        'human 2',
        'ai 1 2',
      ])
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
      const rest = await way.all(
        client.runs.joinStream(thread, run, { lastEventId, streamMode } as never) as never,
      )
      fact('whole', joined([...seen, ...rest]), counted(20))
      fact('values last', brief(lastValues(rest).messages).at(-1), `ai ${counted(20)}`.trim())
      const ids = [...seen, ...rest].map(({ id }) => Number(id))
      fact('no frame twice', rises(ids))
      const again = await way.all(
        client.runs.joinStream(thread, run, { lastEventId: '-1', streamMode } as never) as never,
      )
      fact(
        'same as the whole',
        same(
          again.map(({ id }) => Number(id)),
          ids,
        ),
      )
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
      const read = () =>
        way.all(client.runs.joinStream(thread, run, { lastEventId: '-1', streamMode } as never) as never)
      const [one, two] = await Promise.all([read(), read()])
      fact('both read all', [joined(one), joined(two)], [counted(10), counted(10)])
      const third = await read()
      fact('the same after the end', joined(third), counted(10))
      fact('first frame', third[0]?.event, 'metadata')
      const plainly = await way.all(client.runs.joinStream(thread, run, { streamMode } as never) as never)
      fact('without a header', joined(plainly), counted(10))
      const unknown = client.runs.joinStream(thread, NONE, { streamMode } as never) as never
      const error = await way.all(unknown).then(
        frames => frames[0]?.event,
        () => 'error',
      )
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
            for await (const frame of client.runs.stream(thread, 'slow', options as never))
              frames.push(frame as never)
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
]
