import { describe, expect, it } from 'vitest'
import type { Answer, InputRequest, RunEvent } from '../../../src/index.ts'
import { expectProblem, jsonRequest, messagesOf, notesOf } from '../http/client.ts'
import {
  accept,
  as,
  ask,
  cancel,
  ended,
  type Fields,
  follow,
  get,
  list,
  own,
  post,
  type Server,
  uuid,
} from './client.ts'

/** A run that waits, as its client was told. */
interface Waits {
  readonly id: string
  readonly requests: readonly InputRequest[]
  readonly text: string
}

const requestsIn = (events: readonly RunEvent[]) =>
  events.flatMap(event => (event.type === 'finish' ? (event.requests ?? []) : []))

const textIn = (events: readonly RunEvent[]) =>
  events.map(event => (event.type === 'text' ? event.text : '')).join('')

/** Starts a run of an agent that asks, and reads it until it waits. */
type Start = (server: Server, name: string, body: object, headers?: Fields) => Promise<Waits>

const asJson: Start = async (server, name, body, headers) => {
  const answer = await post(server, `/api/agents/${name}/run`, body, headers)
  expect(answer.status, answer.text).toBe(200)
  const { runId, requests, text, finishReason } = JSON.parse(answer.text)
  expect(finishReason).toBe('input_required')
  return { id: runId, requests, text }
}

const asStream: Start = async (server, name, body, headers) => {
  const response = await fetch(`${server().url}/api/agents/${name}/stream`, jsonRequest(body, headers))
  const events = await eventsIn(response)
  return {
    id: response.headers.get('x-run-id') ?? '',
    requests: requestsIn(events),
    text: textIn(events),
  }
}

const asStored: Start = async (server, name, body, headers) => {
  const { id } = await accept(server, `agents/${name}`, body, headers)
  const record = await ended(server, id, headers)
  expect(record).toMatchObject({ status: 'input_required', finishReason: 'input_required' })
  return { id, requests: record.requests ?? [], text: record.result?.text ?? '' }
}

const STARTS = Object.entries({ 'plain, as JSON': asJson, 'plain, as a stream': asStream, stored: asStored })

async function eventsIn(response: Response): Promise<RunEvent[]> {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const events: RunEvent[] = []
  for await (const { event } of messagesOf(response)) events.push(event)
  return events
}

const to = (id: string) => `/api/runs/${id}/answers`

const give = (server: Server, id: string, answers: readonly unknown[], headers?: Fields) =>
  post(server, to(id), { answers }, headers)

/** Answers to 200, and gives what is told. */
async function given(server: Server, id: string, answers: readonly Answer[], headers?: Fields) {
  const answer = await give(server, id, answers, headers)
  expect(answer.status, answer.text).toBe(200)
  return JSON.parse(answer.text)
}

const noteCount = async (server: Server, note: string) =>
  (await notesOf(server)).filter(each => each === note).length

/** A run of `pays` that waits for the second time: for a place and a tip. */
async function askedTwice(server: Server, headers?: Fields): Promise<Waits> {
  const first = await asJson(server, 'pays', { input: own('bill') }, headers)
  const [request] = first.requests
  const body = [{ id: request?.id ?? '', decision: 'approve' }] as const
  const { runId, requests, text } = await given(server, first.id, body, headers)
  return { id: runId, requests, text }
}

/** A run of `knows` that waits. */
const asks = (server: Server, headers: Fields = {}, body: object = {}) =>
  asJson(server, 'knows', { input: 'x', ...body }, headers)

const idOf = ({ requests }: Waits, index = 0) => requests[index]?.id ?? ''

export function answerCases(server: Server): void {
  describe('a run that waits', () => lifeCases(server))
  describe('the last answer', () => lastCases(server))
  describe('the same and other answers', () => repeatCases(server))
  describe('whose run it is', () => ownerCases(server))
  describe('answers that do not fit', () => misfitCases(server))
  describe('answers that are no answers', () => bodyCases(server))
}

function lifeCases(server: Server): void {
  it.each(STARTS)('goes on with its answers: %s', async (_, start) => {
    const bill = own('bill')
    const first = await start(server, 'pays', { input: bill })
    expect(first.text).toBe('Due: 5. ')
    const digest = expect.stringMatching(/^[\w-]{43}$/)
    const approval = { id: `${first.id}/pay`, kind: 'approval', toolName: 'pay', args: { bill, amount: 5 } }
    expect(first.requests).toEqual([{ ...approval, digest, toolCallId: expect.stringMatching(uuid) }])
    expect(await get(server, first.id)).toMatchObject({
      status: 'input_required',
      requests: first.requests,
    })
    expect(await noteCount(server, `paid 5 ${bill}`)).toBe(0)
    const shown = first.requests[0]?.digest
    const second = await given(server, first.id, [{ id: idOf(first), decision: 'approve', digest: shown }])
    expect(second).toMatchObject({ text: 'Done: paid. ', finishReason: 'input_required' })
    const { runId, requests } = second
    expect(requests.map(({ id }: InputRequest) => id)).toEqual([`${runId}/where`, `${runId}/tip`])
    const part = await given(server, runId, [{ id: `${runId}/where`, value: 'home' }])
    expect(part).toMatchObject({ id: runId, status: 'input_required', continuedFrom: first.id })
    expect(part.requests).toEqual([requests[1]])
    expect(await get(server, runId)).toEqual(part)
    const edited = { id: `${runId}/tip`, decision: 'approve', editedArgs: { amount: 2 } } as const
    const last = await given(server, runId, [edited])
    expect(last).toMatchObject({ text: 'Sent to home, tip 2.', finishReason: 'stop' })
    expect(await get(server, runId)).toMatchObject({ status: 'input_required', continuedBy: last.runId })
    expect(await get(server, runId)).not.toHaveProperty('requests')
    const end = { status: 'completed', continuedFrom: runId }
    expect(await get(server, last.runId)).toMatchObject(end)
    for (const note of [`looked ${bill}`, `paid 5 ${bill}`]) expect(await noteCount(server, note)).toBe(1)
  })

  it('is in the list of those that wait until all is answered', async () => {
    const ann = as(own('ann'))
    const [first, other] = [await asks(server, ann), await asks(server, ann)]
    const ids = async (query: string) => (await list(server, query, ann)).runs.map(({ id }) => id)
    // Two of one millisecond have the order of their ids.
    expect((await ids('?waiting=true')).toSorted()).toEqual([other.id, first.id].toSorted())
    expect(await get(server, first.id, ann)).toMatchObject({ status: 'input_required', waiting: true })
    const { runId } = await given(server, first.id, [{ id: idOf(first), value: 1 }], ann)
    expect(await ids('?waiting=true')).toEqual([other.id])
    const { runs } = await list(server, '?status=input_required', ann)
    const standing = new Map(runs.map(({ id, waiting, continuedBy }) => [id, { waiting, continuedBy }]))
    expect(standing.get(other.id)).toEqual({ waiting: true, continuedBy: undefined })
    expect(standing.get(first.id)).toEqual({ waiting: undefined, continuedBy: runId })
    expect(standing.size).toBe(2)
    await cancel(server, other.id, ann)
    expect(await ids('?waiting=true')).toEqual([])
    expect(await get(server, other.id, ann)).not.toHaveProperty('waiting')
    const refused = await ask(server, '/api/runs?waiting=false', { headers: ann })
    await expectProblem(server, refused, 400, 'invalid_query')
  })

  it('tells what failed where an approval is denied', async () => {
    const bill = own('bill')
    const waiting = await asJson(server, 'pays', { input: bill })
    const answer = await give(server, waiting.id, [
      { id: idOf(waiting), decision: 'deny', reason: 'too much' },
    ])
    const problem = await expectProblem(server, answer, 403, 'approval_denied')
    expect(problem.detail).toContain('too much')
    expect(await noteCount(server, `paid 5 ${bill}`)).toBe(0)
  })
}

function lastCases(server: Server): void {
  it('gives the events of what goes on, where they are accepted', async () => {
    const waiting = await asks(server)
    const init = jsonRequest(
      { answers: [{ id: idOf(waiting), value: 1 }] },
      { accept: 'text/event-stream, */*;q=0.1' },
    )
    const response = await fetch(`${server().url}${to(waiting.id)}`, init)
    const id = response.headers.get('x-run-id') ?? ''
    const events = await eventsIn(response)
    expect(textIn(events)).toBe('nobody,nobody,none')
    expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    expect((await follow(server, id)).map(({ event }) => event)).toEqual(events)
  })

  it('gives the place of what goes on, to a client that does not wait', async () => {
    const waiting = await asks(server)
    const body = [{ id: idOf(waiting), value: 1 }]
    const answer = await give(server, waiting.id, body, { prefer: 'respond-async' })
    expect(answer.status).toBe(202)
    const record = JSON.parse(answer.text)
    expect(record).toMatchObject({ continuedFrom: waiting.id, name: 'knows' })
    expect(answer.headers.get('location')).toBe(`/api/runs/${record.id}`)
    expect(answer.headers.get('x-run-id')).toBe(record.id)
    expect((await ended(server, record.id)).result?.text).toBe('nobody,nobody,none')
  })

  it('gives the record, where others are left, whatever is accepted', async () => {
    const waiting = await askedTwice(server)
    const headers = { accept: 'text/event-stream', prefer: 'respond-async' }
    const answer = await give(server, waiting.id, [{ id: idOf(waiting), value: 'home' }], headers)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(JSON.parse(answer.text).requests).toHaveLength(1)
  })
}

function repeatCases(server: Server): void {
  it('give the same run, in each way in which it is asked for', async () => {
    const waiting = await askedTwice(server)
    const answers: Answer[] = [
      { id: idOf(waiting, 1), decision: 'approve' },
      { id: idOf(waiting), value: 'home' },
    ]
    const { runId } = await given(server, waiting.id, answers)
    for (const some of [answers, answers.toReversed(), answers.slice(1)]) {
      expect((await given(server, waiting.id, some)).runId).toBe(runId)
    }
    const later = await give(server, waiting.id, answers, { prefer: 'respond-async' })
    expect(JSON.parse(later.text)).toMatchObject({ id: runId, status: 'completed' })
    const { runs } = await list(server, '?limit=1', as(own('nobody')))
    expect(runs).toEqual([])
  })

  it('are refused where they say something else', async () => {
    const waiting = await askedTwice(server)
    const [where, tip] = [idOf(waiting), idOf(waiting, 1)]
    await given(server, waiting.id, [{ id: where, value: 'home' }])
    const others: Answer[][] = [
      [{ id: where, value: 'work' }],
      [
        { id: tip, decision: 'approve' },
        { id: where, value: '' },
      ],
    ]
    for (const other of others) {
      await expectProblem(server, await give(server, waiting.id, other), 409, 'already_answered')
    }
    expect((await get(server, waiting.id)).requests).toHaveLength(1)
    await given(server, waiting.id, [{ id: tip, decision: 'approve' }])
    const denied = [{ id: tip, decision: 'deny' }] as const
    await expectProblem(server, await give(server, waiting.id, denied), 409, 'already_answered')
  })

  it('at the same instant let one run go on', async () => {
    const bill = own('bill')
    const waiting = await asJson(server, 'pays', { input: bill })
    const each = await Promise.all(
      Array.from({ length: 6 }, (_, index) => {
        const decision = index % 2 === 0 ? 'approve' : 'deny'
        return give(server, waiting.id, [{ id: idOf(waiting), decision }])
      }),
    )
    const { continuedBy } = await get(server, waiting.id)
    const goesOn = each.filter(({ headers }) => headers.get('x-run-id') === continuedBy)
    const refused = each.filter(({ status }) => status === 409)
    expect([goesOn.length, refused.length]).toEqual([3, 3])
    expect(await noteCount(server, `paid 5 ${bill}`)).toBeLessThanOrEqual(1)
  })
}

function ownerCases(server: Server): void {
  it('decides who answers: for anyone else it is not there', async () => {
    const [ann, bob] = [as(own('ann')), as(own('bob'))]
    const user = ann['x-test-user'] ?? ''
    const waiting = await asks(server, ann, { sessionId: 's' })
    const right = { id: idOf(waiting), value: 1 }
    for (const headers of [bob, {}]) {
      for (const answers of [[right], [{ id: `${waiting.id}/other`, value: 1 }]]) {
        const answer = await give(server, waiting.id, answers, headers)
        await expectProblem(server, answer, 404, 'run_not_found')
      }
    }
    // Whoever claims to be the owner is not.
    const claimed = { answers: [right], userId: user, identity: user }
    await expectProblem(server, await post(server, to(waiting.id), claimed), 404, 'run_not_found')
    const { text, runId } = await given(server, waiting.id, [right], ann)
    expect(text).toBe(`${user},${user},s`)
    expect(await get(server, runId, ann)).toMatchObject({ userId: user, sessionId: 's' })
    expect((await ask(server, `/api/runs/${runId}`, { headers: bob })).status).toBe(404)
  })

  it('stays the same, whoever answers a run that has no owner', async () => {
    const waiting = await asks(server, {}, { userId: 'claimed', sessionId: 's' })
    const answers = [{ id: idOf(waiting), value: 1 }]
    const bob = as(own('bob'))
    const { text, runId } = await given(server, waiting.id, answers, bob)
    expect(text).toBe('nobody,claimed,s')
    // Whoever has asked finds what goes on, and may say the same again.
    expect((await get(server, runId)).userId).toBe('claimed')
    expect((await given(server, waiting.id, answers)).runId).toBe(runId)
  })

  it('is not told of another run by its requests', async () => {
    const [mine, other] = [await asks(server), await asks(server, as(own('ann')))]
    const answer = await give(server, mine.id, [{ id: idOf(other), value: 1 }])
    await expectProblem(server, answer, 404, 'request_not_found')
  })
}

function misfitCases(server: Server): void {
  it.each<[string, (id: string) => object, string]>([
    ['a value of another type', id => ({ id, value: 7 }), 'answers[0].value'],
    ['no value', id => ({ id }), 'answers.0'],
    ['a decision for a question', id => ({ id, decision: 'approve' }), 'answers[0].value'],
    ['a result for a question', id => ({ id, result: 1 }), 'answers[0].value'],
    ['two kinds at once', id => ({ id, value: 'x', decision: 'approve' }), 'answers.0'],
    [
      'other arguments',
      id => ({ id: id.replace('where', 'tip'), decision: 'approve', args: {} }),
      'answers.0.args',
    ],
    ...[{ cents: 1 }, { amount: 'ninety' }, 'ninety'].map(
      (editedArgs): [string, (id: string) => object, string] => [
        `edited arguments that misfit, ${JSON.stringify(editedArgs)}`,
        id => ({ id: id.replace('where', 'tip'), decision: 'approve', editedArgs }),
        'answers[0].editedArgs',
      ],
    ),
    [
      'a decision that is none',
      id => ({ id: id.replace('where', 'tip'), decision: 'maybe' }),
      'answers.0.decision',
    ],
    ['an id that is none', () => ({ id: 7, value: 'x' }), 'answers.0.id'],
    ['an empty id', () => ({ id: '', value: 'x' }), 'answers.0.id'],
  ])('are refused and change nothing: %s', async (_, make, path) => {
    const waiting = await askedTwice(server)
    const answer = await give(server, waiting.id, [make(idOf(waiting))])
    const { issues } = await expectProblem(server, answer, 400, 'invalid_body')
    expect(issues).toMatchObject([{ path }])
    expect((await get(server, waiting.id)).requests).toHaveLength(2)
  })

  it('name the place among others', async () => {
    const waiting = await askedTwice(server)
    const answers = [
      { id: idOf(waiting, 1), decision: 'approve' },
      { id: idOf(waiting), value: null },
    ]
    const { issues } = await expectProblem(
      server,
      await give(server, waiting.id, answers),
      400,
      'invalid_body',
    )
    expect(issues).toMatchObject([{ path: 'answers[1].value' }])
    expect((await get(server, waiting.id)).requests).toHaveLength(2)
  })

  it('are those with edited arguments for a tool that has none', async () => {
    const waiting = await asJson(server, 'pays', { input: own('bill') })
    const answers = [{ id: idOf(waiting), decision: 'approve', editedArgs: { amount: 500 } }]
    const { issues } = await expectProblem(
      server,
      await give(server, waiting.id, answers),
      400,
      'invalid_body',
    )
    expect(issues).toMatchObject([{ path: 'answers[0].editedArgs' }])
  })

  it('are those with the digest of something else', async () => {
    const [one, other] = [await asks(server), await asJson(server, 'pays', { input: own('bill') })]
    const digest = other.requests[0]?.digest
    const answer = await give(server, one.id, [{ id: idOf(one), value: 1, digest }])
    await expectProblem(server, answer, 409, 'request_changed')
  })

  it('are those with ids that were never asked', async () => {
    const waiting = await asks(server)
    const ids = [
      `${waiting.id}/nothing`,
      waiting.id,
      `${waiting.id}/go#2`,
      '__proto__',
      '../..',
      'x'.repeat(5000),
    ]
    for (const id of ids) {
      const answer = await give(server, waiting.id, [{ id, value: 1 }])
      expect([400, 404]).toContain(answer.status)
      expect(JSON.parse(answer.text).code).toMatch(/^(request_not_found|invalid_body)$/)
    }
    expect((await get(server, waiting.id)).requests).toHaveLength(1)
  })

  it('are those to a run that waits for nothing, and to none', async () => {
    const { id } = await accept(server, 'agents/echo', { input: 'x' })
    await ended(server, id)
    const answers = [{ id: `${id}/go`, value: 1 }]
    await expectProblem(server, await give(server, id, answers), 409, 'run_ended')
    await expectProblem(server, await give(server, crypto.randomUUID(), answers), 404, 'run_not_found')
    await expectProblem(server, await give(server, 'x', answers), 404, 'run_not_found')
  })
}

function bodyCases(server: Server): void {
  it.each<[string, unknown]>([
    ['nothing', {}],
    ['no list', { answers: { id: 'a', value: 1 } }],
    ['an empty list', { answers: [] }],
    ['a list of nothing', { answers: [null] }],
    ['101 answers', { answers: Array.from({ length: 101 }, (_, index) => ({ id: `${index}`, value: 1 })) }],
    ['a list instead of a body', []],
  ])('are refused: %s', async (_, body) => {
    const waiting = await asks(server)
    await expectProblem(server, await post(server, to(waiting.id), body), 400, 'invalid_body')
  })

  it('are refused as another type than JSON, and as no JSON', async () => {
    const { id } = await asks(server)
    const text = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"answers":[]}' }
    await expectProblem(server, await ask(server, to(id), text), 415, 'unsupported_media_type')
    const broken = { ...jsonRequest({}), body: '{"answers":[' }
    await expectProblem(server, await ask(server, to(id), broken), 400, 'invalid_body')
  })

  it('are refused where they are nested too deep, and free for others', async () => {
    const waiting = await asks(server)
    const deep = `${'['.repeat(6000)}${']'.repeat(6000)}`
    for (const body of [`{"answers":[{"id":"${idOf(waiting)}","value":${deep}}]}`, `{"answers":${deep}}`]) {
      const answer = await ask(server, to(waiting.id), { ...jsonRequest({}), body })
      await expectProblem(server, answer, 400, 'invalid_body')
    }
    let value: unknown = 1
    for (let depth = 0; depth < 190; depth++) value = [value]
    expect((await given(server, waiting.id, [{ id: idOf(waiting), value }])).finishReason).toBe('stop')
  })

  it('may be as long as a body may be, and no longer', async () => {
    const waiting = await askedTwice(server)
    const body = (length: number) => ({ answers: [{ id: idOf(waiting), value: 'x'.repeat(length) }] })
    const limit = 8 * 1024 * 1024
    const [spare, tooLong] = [1024, limit]
    // A client that is refused while it writes may not read why.
    const refused = await fetch(`${server().url}${to(waiting.id)}`, jsonRequest(body(tooLong))).then(
      async response => [response.status, ((await response.json()) as { code: string }).code],
      () => [413, 'body_too_large'],
    )
    expect(refused).toEqual([413, 'body_too_large'])
    await expect(get(server, waiting.id)).resolves.toMatchObject({ status: 'input_required' })
    const taken = await fetch(`${server().url}${to(waiting.id)}`, jsonRequest(body(limit - spare)))
    expect(taken.status, await taken.text()).toBe(200)
    const last = await given(server, waiting.id, [{ id: idOf(waiting, 1), decision: 'approve' }])
    expect(last.text).toBe(`Sent to ${'x'.repeat(100)}, tip 1.`)
  })

  it('allow POST alone', async () => {
    const { id } = await asks(server)
    const answer = await ask(server, to(id))
    await expectProblem(server, answer, 405, 'method_not_allowed')
    expect(answer.headers.get('allow')).toBe('OPTIONS, POST')
  })
}

/** Where nothing can be kept, nothing that must be approved begins. */
export function unkeptCases(server: Server): void {
  it.each(['run', 'stream'])('a tool that needs approval fails before it starts, on /%s', async route => {
    const bill = own('bill')
    const answer = await ask(server, `/none/agents/pays/${route}`, jsonRequest({ input: bill }))
    if (route === 'run') {
      const problem = await expectProblem(server, answer, 400, 'runs_not_stored')
      expect(problem.detail).toContain('runs.store')
    } else expect(answer.text).toContain('"code":"runs_not_stored"')
    expect(await noteCount(server, `looked ${bill}`)).toBe(1)
    expect(await noteCount(server, `paid 5 ${bill}`)).toBe(0)
  })

  it('answers find no run', async () => {
    const answers = [{ id: 'a', value: 1 }]
    const answer = await post(server, `/none/runs/${crypto.randomUUID()}/answers`, { answers })
    expect(answer.status).toBe(404)
  })
}
