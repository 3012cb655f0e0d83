import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { hostileIterators, misbehaving, SECRET } from '../fixture/misbehaving.ts'
import { expectAlive, expectProblem, post, type Server, stream, toldOn } from './client.ts'

const mask = 'Internal server error'

/** The end of a misbehaving agent's run: a finish, or an error with this code and status. */
interface End {
  readonly code?: string
  readonly status?: number
  readonly error?: string
  readonly mount?: string
}

const finishes: End = {}
const fails: End = { code: 'agent_failed' }
const timesOut: End = { code: 'run_timeout', status: 504, mount: '/short' }
const invalid: End = { code: 'invalid_event' }

const ends: Readonly<Record<keyof typeof misbehaving, End>> = {
  'throws-early': fails,
  'throws-late': fails,
  'throws-text': fails,
  'throws-nothing': fails,
  'throws-unreadable': fails,
  'throws-untouchable': fails,
  'throws-for-the-caller': { code: 'invalid_input', status: 400, error: 'name a city' },
  'throws-for-the-provider': { code: 'provider_failed', status: 502 },
  'never-ends': timesOut,
  'ignores-its-signal': timesOut,
  'stops-silently': finishes,
  'answers-at-once': finishes,
  'closes-without-promises': finishes,
  'ends-twice': finishes,
  'ends-then-fails': finishes,
  'fails-twice': fails,
  'yields-null': invalid,
  'yields-a-number': invalid,
  'yields-an-unknown-type': invalid,
  'yields-text-without-text': invalid,
  'yields-half-a-tool-call': invalid,
  floods: { code: 'run_too_large' },
}

const bareEnds: Readonly<Record<string, End>> = {
  'run-rejects': fails,
  'run-resolves-with-a-number': invalid,
  'stream-returns-a-number': invalid,
}

const isEnd = ({ type }: RunEvent): boolean => type === 'finish' || type === 'error'

/** Checks that the stream ends with exactly one terminal event, the expected one. */
async function expectStreamEnds(server: Server, name: string, end: End): Promise<void> {
  const { events } = await stream(server, `${end.mount ?? '/api'}/agents/${name}/stream`)
  const { code, error = mask } = end
  const expected =
    code === undefined ? { type: 'finish', finishReason: 'stop' } : { type: 'error', error, code }
  expect(events.filter(isEnd)).toEqual([expected])
  expect(events.at(-1)).toEqual(expected)
}

/** Checks that the JSON run answers with the result or a problem. Gives its run's id. */
async function expectRunEnds(server: Server, name: string, end: End): Promise<string> {
  const answer = await post(server, `${end.mount ?? '/api'}/agents/${name}/run`, { input: 'x' })
  const runId = answer.headers.get('x-run-id') ?? ''
  expect(runId).toMatch(/^[\da-f-]{36}$/)
  if (end.code === undefined) expect(JSON.parse(answer.text)).toMatchObject({ text: 'before ', runId })
  else {
    const problem = await expectProblem(server, answer, end.status ?? 500, end.code)
    expect(problem.detail).toBe(end.error ?? mask)
  }
  return runId
}

/** Checks that the bus of an `Agent` has one start and one end of a run, the same end as the client's. */
async function expectBusEnds(server: Server, runId: string, end: End): Promise<void> {
  const events = async () => {
    const told = (await toldOn(server)).filter(({ payload }) => payload.runId === runId)
    return told.map(({ event }) => event).filter(event => /^run\.(start|complete|error)$/.test(event))
  }
  const last = end.code === undefined ? 'run.complete' : 'run.error'
  await eventually(async () => expect(await events()).toEqual(['run.start', last]))
}

export function failureCases(server: Server): void {
  describe('an agent that misbehaves', () => misbehaviourCases(server))
  describe('`production`', () => productionCases(server))
}

function misbehaviourCases(server: Server): void {
  it.each(Object.entries(ends))('ends once: %s', async (name, end) => {
    await expectStreamEnds(server, name, end)
    await expectRunEnds(server, name, end)
  })

  it.each(Object.entries(ends))(
    'ends once, for its bus too, as the body of an `Agent`: %s',
    async (name, end) => {
      await expectStreamEnds(server, `${name}-agent`, end)
      await expectBusEnds(server, await expectRunEnds(server, `${name}-agent`, end), end)
    },
  )

  it.each(Object.entries(bareEnds))('ends once: %s', async (name, end) => {
    await expectStreamEnds(server, name, end)
    await expectRunEnds(server, name, end)
  })

  it.each(['yields-what-is-no-json', 'yields-what-is-no-json-agent'])('ends once: %s', async name => {
    await expectStreamEnds(server, name, invalid)
    await expectRunEnds(server, name, invalid)
  })

  it('keeps what it said before it failed', async () => {
    const { messages } = await stream(server, '/api/agents/throws-late/stream')
    expect(messages).toMatchObject([
      { id: '1', event: { type: 'text', text: 'before ' } },
      { id: '2', event: { type: 'error' } },
    ])
  })
}

function productionCases(server: Server): void {
  it('masks titles and texts of server errors', async () => {
    const answer = await post(server, '/api/agents/throws-late/run', { input: 'x' })
    const problem = await expectProblem(server, answer, 500, 'agent_failed')
    expect([problem.title, problem.detail, problem.error]).toEqual([mask, mask, mask])
  })

  it('is on where the runtime does not say otherwise', async () => {
    const answer = await post(server, '/unsaid/agents/throws-late/run', { input: 'x' })
    await expectProblem(server, answer, 500, 'agent_failed')
    const { events } = await stream(server, '/unsaid/agents/throws-late/stream')
    expect(events.at(-1)).toEqual({ type: 'error', error: mask, code: 'agent_failed' })
  })

  it('shows texts when it is off, never a stack', async () => {
    const answer = await post(server, '/dev/agents/throws-late/run', { input: 'x' })
    const problem = await expectProblem(server, answer, 500, 'agent_failed')
    expect([problem.title, problem.detail]).toEqual(['Internal Server Error', SECRET])
    const { events } = await stream(server, '/dev/agents/throws-late/stream')
    expect(events.at(-1)).toEqual({ type: 'error', error: SECRET, code: 'agent_failed' })
  })

  it('shows the texts of tools when it is off', async () => {
    const { events } = await stream(server, '/dev/agents/clumsy/stream')
    expect(events.find(({ type }) => type === 'tool_call_end')).toMatchObject({ error: SECRET })
  })

  it('writes the unmasked text of a failed run to the log, with the start of its id', async () => {
    const answer = await post(server, '/api/agents/throws-late/run', { input: 'x' })
    const start = answer.headers.get('x-run-id')?.slice(0, 8)
    const lines = () => server().log().split('\n')
    const entry = () => lines().find(line => line.includes('run.failed') && line.includes(`${start}`))
    await eventually(() => expect(entry()).toContain(SECRET))
    expect(entry()).not.toContain(answer.headers.get('x-run-id'))
  })
}

/** These run last, since they end or block a weak server. */
export function hostileCases(server: Server): void {
  it.each(Object.keys(hostileIterators))('ends once: %s', async name => {
    const { events } = await stream(server, `/short/agents/${name}/stream`)
    expect(events).toEqual([{ type: 'error', error: mask, code: expect.stringMatching(/failed|invalid/) }])
    const answer = await post(server, `/short/agents/${name}/run`, { input: 'x' })
    expect(answer.status).toBe(500)
    await expectAlive(server)
  })
}

/** Names of all misbehaving agents. */
export const misbehavingNames: readonly string[] = Object.keys(misbehaving).flatMap(name => [
  name,
  `${name}-agent`,
])
