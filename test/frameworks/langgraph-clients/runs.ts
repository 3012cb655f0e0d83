import {
  brief,
  type Check,
  errorOf,
  type Frame,
  isUuid,
  joined,
  lastValues,
  messagesOf,
  of,
  pause,
  rises,
  said,
  textOf,
} from './way.ts'

export const runChecks: readonly Check[] = [
  [
    '11 values',
    async way => {
      const frames = await way.say(await way.make(), 'talks', 'hi', { streamMode: 'values' })
      way.fact('metadata first', frames[0]?.event, 'metadata')
      way.fact('run id', isUuid(frames[0]?.data.run_id))
      way.fact('messages', brief(lastValues(frames).messages), ['human hi', 'ai You said hi, message 1.'])
      way.fact(
        'ids',
        lastValues(frames).messages.every(({ id }) => typeof id === 'string' && id !== ''),
      )
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
      way.fact(
        'ids in state',
        (await way.messages(thread)).map(({ id }) => id),
        lastValues(frames).messages.map(({ id }) => id),
      )
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
      way.fact(
        'run',
        about.every(each => each.run_id === frames[0]?.data.run_id),
      )
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
      way.fact(
        'grows',
        partial.length > 1 &&
          partial.every((each, at) =>
            textOf(each.content).startsWith(textOf(partial[at - 1]?.content ?? '')),
          ),
      )
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
      way.fact('messages', brief(messages), [
        'human weather',
        'ai',
        'tool 21C in Paris',
        'ai It is 21C in Paris.',
      ])
      const [call] = messages[1]?.tool_calls ?? []
      way.fact('call', [call?.name, call?.args], ['get_weather', { city: 'Paris' }])
      const pieces = of(frames, 'messages')
        .filter(({ data }) => data[0].id === messages[1]?.id)
        .flatMap(({ data }) => data[0].tool_call_chunks ?? [])
      way.fact('pieces', JSON.parse(pieces.map(({ args }) => args).join('')), { city: 'Paris' })
      way.fact(
        'first piece',
        [pieces[0]?.name, pieces[0]?.id === call?.id, pieces[0]?.index],
        ['get_weather', true, 0],
      )
      way.fact('result', messages[2]?.tool_call_id === call?.id)
      const result = of(frames, 'messages').find(({ data }) => data[0].type === 'tool')
      way.fact('result in the stream', result?.data[0].content, '21C in Paris')
      way.fact('same id', result?.data[0].id === messages[2]?.id)
      const order = of(frames, 'messages').map(({ data }) => data[0].id)
      way.fact(
        'order',
        [...new Set(order)].join() ===
          messages
            .slice(1)
            .map(({ id }) => id)
            .join(),
      )
    },
  ],
  [
    '14 several modes',
    async way => {
      const thread = await way.make()
      const stream_mode = [
        'values',
        'messages-tuple',
        'updates',
        'custom',
        'tasks',
        'tools',
        'debug',
        'events',
        'checkpoints',
      ]
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
      way.fact(
        'content-location',
        [place[1], place[2] === thread, place[3], isUuid(place[4])],
        ['threads', true, 'runs', true],
      )
      way.fact('location', answer.headers.has('location'))
    },
  ],
  [
    '15 updates, custom and tasks',
    async way => {
      const streamMode = ['updates', 'custom', 'tasks']
      const frames = await way.say(await way.make(), 'talks', 'weather', { streamMode })
      const updates = of(frames, 'updates').map(({ data }) => data)
      way.fact(
        'updates',
        updates.map(each => Object.keys(each).join()),
        ['agent', 'tools', 'agent'],
      )
      way.fact(
        'messages in these',
        updates.flatMap(each => Object.values(each).flatMap(part => brief(messagesOf(part)))),
        ['ai', 'tool 21C in Paris', 'ai It is 21C in Paris.'],
      )
      way.fact('custom', of(frames, 'custom').length > 0)
      way.fact(
        'tasks begin',
        of(frames, 'tasks').some(({ data }) => 'triggers' in data),
      )
      way.fact(
        'tasks end',
        of(frames, 'tasks').some(({ data }) => 'result' in data),
      )
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
      const raw = await way.client.runs.wait(await way.make(), 'fails', {
        input: said('hi'),
        raiseError: false,
      } as never)
      way.fact('raw error', Object.keys((raw as { __error__?: object }).__error__ ?? {}).toSorted(), [
        'error',
        'message',
      ])
    },
  ],
  [
    '17 a run that fails',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      fact(
        'wait throws',
        (await errorOf(client.runs.wait(thread, 'fails', { input: said('hi') }))) !== undefined,
      )
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
    '28 silence',
    async way => {
      const frames = await way.say(await way.make(), 'slow', 'quiet', {
        streamMode: ['messages-tuple', 'values'],
      })
      way.fact(
        'no other events',
        [...new Set(frames.map(({ event }) => event))],
        ['metadata', 'values', 'messages'],
      )
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
      const values = await client.runs.wait(null as never, 'talks', { input: said('hi') })
      fact('wait', brief(messagesOf(values)), ['human hi', 'ai You said hi, message 1.'])
      await pause(500)
      fact('no thread is left', (await client.threads.search({ limit: 1000 })).length === before)
      const batch = await client.runs.createBatch([
        { assistantId: 'talks', input: said('one') },
        { assistantId: 'talks', input: said('two') },
      ])
      fact(
        'batch',
        batch.map(({ run_id }) => isUuid(run_id)),
        [true, true],
      )
    },
    { alone: true },
  ],
]
