/** Checks of threads that wait for their user. */
import { brief, type Check, lastValues, messagesOf, of, said, statusOf, type Way, waitingIn } from './way.ts'

/** Resumes a thread. */
const resumed = (way: Way, thread: string, agent: string, resume: unknown, more: object = {}) =>
  way.all(
    way.stream(thread, agent, undefined, { command: { resume }, streamMode: ['values', 'updates'], ...more }),
  )

/** A thread that waits for an approval. */
async function paying(way: Way, amount = '5'): Promise<string> {
  return way.told('pays', amount)
}

const approve = { decisions: [{ type: 'approve' }] }

export const waitChecks: readonly Check[] = [
  [
    '29 an approval',
    async way => {
      const { client, fact } = way
      const thread = await way.make()
      const frames = await way.say(thread, 'pays', '5', { streamMode: ['values', 'updates'] })
      const [waiting] = waitingIn(frames)
      fact(
        'requests',
        waiting?.value.action_requests?.map(({ name, args }: { name: string; args: object }) => [name, args]),
        [['pay', { amount: 5 }]],
      )
      fact('decisions', waiting?.value.review_configs, [
        { action_name: 'pay', allowed_decisions: ['approve', 'edit', 'reject'] },
      ])
      fact('description', typeof waiting?.value.action_requests?.[0].description, 'string')
      fact('updates have it', waitingIn(frames, 'updates')[0]?.id === waiting?.id)
      const last = of(frames, 'values').at(-1)?.data
      fact('alone in its frame', Object.keys(last), ['__interrupt__'])
      const { status, interrupts, values } = await client.threads.get(thread)
      fact('thread', status, 'interrupted')
      fact('in the thread', Object.values(interrupts).flat()[0]?.id === waiting?.id)
      fact('values', brief(messagesOf(values)), ['human 5', 'ai'])
      const state = await client.threads.getState(thread)
      fact('in the state', state.tasks[0]?.interrupts[0], waiting)
      fact('next', state.next.length, 1)
      fact('task', state.tasks.length, 1)
      const found = await client.threads.search({ status: 'interrupted', limit: 1000 })
      fact(
        'found',
        found.some(each => each.thread_id === thread),
      )
      fact('run', (await client.runs.list(thread))[0]?.status, 'success')
      const waited = await client.runs.wait(await way.make(), 'pays', { input: said('5') })
      fact('wait', Array.isArray((waited as { __interrupt__?: unknown }).__interrupt__))
    },
  ],
  [
    '29 a question',
    async way => {
      const frames = await way.say(await way.make(), 'asks', 'shirt', { streamMode: ['values', 'updates'] })
      const { question, options } = waitingIn(frames)[0]?.value ?? {}
      way.fact('value', { question, options }, { question: 'Which size?', options: ['S', 'M'] })
    },
  ],
  ...(
    [
      ['approve', approve, 'I have paid 5.', 5],
      [
        'edit',
        { decisions: [{ type: 'edit', edited_action: { name: 'pay', args: { amount: 3 } } }] },
        'I have paid 3.',
        3,
      ],
      [
        'reject',
        { decisions: [{ type: 'reject', message: 'too much' }] },
        'I have not: The call was denied: too much',
        5,
      ],
    ] as const
  ).map(
    ([name, answer, text, amount]): Check => [
      `30 ${name}`,
      async way => {
        const thread = await paying(way)
        const { client, fact } = way
        const before = await way.messages(thread)
        const frames = await resumed(way, thread, 'pays', answer)
        const first = of(frames, 'values')[0]?.data
        fact('state before', ['__interrupt__' in first, brief(messagesOf(first))], [false, ['human 5', 'ai']])
        const { messages } = lastValues(frames)
        fact('text', brief(messages).at(-1), `ai ${text}`)
        fact(
          'same messages before',
          messages.slice(0, 2).map(({ id }) => id),
          before.map(({ id }) => id),
        )
        fact('args', messages[1]?.tool_calls?.[0]?.args, { amount })
        fact(
          'kinds',
          messages.map(({ type }) => type),
          ['human', 'ai', 'tool', 'ai'],
        )
        const { status, interrupts } = await client.threads.get(thread)
        fact('thread', [status, Object.values(interrupts).flat()], ['idle', []])
        const runs = await client.runs.list(thread)
        fact(
          'runs',
          runs.map(each => each.status),
          ['success', 'success'],
        )
        fact('two runs', new Set(runs.map(({ run_id }) => run_id)).size, 2)
      },
    ],
  ),
  [
    '30 a value',
    async way => {
      const thread = await way.told('asks', 'shirt')
      const frames = await resumed(way, thread, 'asks', 'M')
      way.fact('text', brief(lastValues(frames).messages), ['human shirt', 'ai shirt in M.'])
      const waited = await way.client.runs.wait(await way.told('asks', 'hat'), 'asks', {
        command: { resume: 'S' },
      })
      way.fact('wait', brief(messagesOf(waited)), ['human hat', 'ai hat in S.'])
    },
  ],
  [
    '30 a value by its id',
    async way => {
      const thread = await way.make()
      const [waiting] = waitingIn(await way.say(thread, 'asks', 'shirt'))
      const frames = await resumed(way, thread, 'asks', { [waiting?.id ?? '']: 'S' })
      way.fact('text', brief(lastValues(frames).messages).at(-1), 'ai shirt in S.')
    },
  ],
  [
    '30 nothing waits',
    async way => {
      const thread = await way.told('talks', 'hi')
      const status = await statusOf(resumed(way, thread, 'talks', 'yes'))
      way.fact('no crash', status === 200 || Number(status) < 500)
      way.fact('no second turn', (await way.messages(thread)).length, 2)
      way.fact('status', status, 409)
    },
  ],
  [
    '30 new input instead',
    async way => {
      const thread = await way.told('asks', 'shirt')
      const frames = await way.say(thread, 'asks', 'hat')
      way.fact('waits again', waitingIn(frames).length, 1)
      const done = await resumed(way, thread, 'asks', 'S')
      way.fact('text', brief(lastValues(done).messages).at(-1), 'ai hat in S.')
      way.fact(
        'both',
        brief(await way.messages(thread)).filter(each => each.startsWith('human')),
        ['human shirt', 'human hat'],
      )
    },
  ],
]
