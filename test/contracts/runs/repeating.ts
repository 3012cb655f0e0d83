import { describe, expect, it } from 'vitest'
import { expectProblem, jsonRequest, notesOf, run, stream } from '../http/client.ts'
import {
  as,
  ask,
  beginStream,
  ended,
  type Fields,
  get,
  isNoted,
  noted,
  openGate,
  own,
  post,
  type Server,
} from './client.ts'

const echo = '/api/agents/echo'
const input = { input: 'one two' }
const withKey = (key: string, more: Fields = {}): Fields => ({ 'idempotency-key': key, ...more })

/** Runs with a key and gives the id of the run. */
async function runId(server: Server, headers: Fields, body: object = input, path = echo): Promise<string> {
  return (await run(server, `${path}/run`, body, headers)).runId
}

export function repeatingCases(server: Server): void {
  describe('the same `Idempotency-Key`', () => sameCases(server))
  describe('the scope of an `Idempotency-Key`', () => scopeCases(server))
  describe('a bad `Idempotency-Key`', () => badCases(server))
  describe('two requests at the same instant', () => instantCases(server))
}

function sameCases(server: Server): void {
  it('is refused with a body that is nested too deep, and free for another', async () => {
    const headers = withKey(own('key'))
    const deep = `{"input":"one two","more":${'['.repeat(6000)}${']'.repeat(6000)}}`
    const init = { ...jsonRequest({}, headers), body: deep }
    await expectProblem(server, await ask(server, `${echo}/run`, init), 400, 'invalid_body')
    expect((await post(server, `${echo}/run`, input, headers)).status).toBe(200)
  })

  it('gives the same run, on the JSON and on the stream route', async () => {
    const headers = withKey(own('key'))
    const first = await post(server, `${echo}/run`, input, headers)
    const second = await post(server, `${echo}/run`, input, headers)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.text).toBe(first.text)
    const streamed = await stream(server, `${echo}/stream`, input, headers)
    const id = first.headers.get('x-run-id')
    expect(streamed.headers.get('x-run-id')).toBe(id)
    expect(streamed.messages.map(message => message.id)).toEqual(['1', '2', '3'])
    const again = await stream(server, `${echo}/stream`, input, headers)
    expect(again.messages).toEqual(streamed.messages)
    expect(await get(server, id ?? '')).toMatchObject({ status: 'completed' })
  })

  it('gives the same run while it is at work: JSON waits for it, the stream follows it from the start', async () => {
    const [gate, headers] = [own('gate'), withKey(own('key'))]
    const body = { input: gate }
    const path = '/api/agents/gated'
    const waiting = [run(server, `${path}/run`, body, headers)]
    await noted(server, `${gate} started`)
    waiting.push(run(server, `${path}/run`, body, headers))
    const { id, leave } = await beginStream(server, `${path}/stream`, jsonRequest(body, headers))
    const following = stream(server, `${path}/stream`, body, headers)
    leave()
    const accepted = await post(server, `${path}/run`, body, { ...headers, prefer: 'respond-async' })
    expect(JSON.parse(accepted.text)).toMatchObject({ id, status: 'running' })
    await openGate(server, gate)
    const results = await Promise.all(waiting)
    expect(results.map(({ runId, text }) => [runId, text])).toEqual([
      [id, 'before after'],
      [id, 'before after'],
    ])
    expect((await following).messages.map(message => message.id)).toEqual(['1', '2', '3'])
    const starts = (await notesOf(server)).filter(note => note === `${gate} started`)
    expect(starts).toHaveLength(1)
  })

  it('refuses another body, and the first run stays', async () => {
    const headers = withKey(own('key'))
    const id = await runId(server, headers)
    for (const body of [{ input: 'one' }, { ...input, sessionId: 's1' }, { ...input, background: true }]) {
      const answer = await post(server, `${echo}/run`, body, headers)
      await expectProblem(server, answer, 422, 'idempotency_mismatch')
      const streamed = await post(server, `${echo}/stream`, body, headers)
      await expectProblem(server, streamed, 422, 'idempotency_mismatch')
    }
    expect(await runId(server, headers)).toBe(id)
  })

  it('takes a body in another order for the same', async () => {
    const headers = withKey(own('key'))
    const id = await runId(server, headers, { input: 'one', sessionId: 's1' })
    expect(await runId(server, headers, { sessionId: 's1', input: 'one' })).toBe(id)
  })

  it('gives a failed run again, with the same problem', async () => {
    const headers = withKey(own('key'))
    const path = '/api/agents/throws-for-the-caller/run'
    const answers = [await post(server, path, input, headers), await post(server, path, input, headers)]
    for (const answer of answers) await expectProblem(server, answer, 400, 'invalid_input')
    const [first, second] = answers.map(answer => answer.headers.get('x-run-id'))
    expect(second).toBe(first)
  })

  it('is kept for a background run too', async () => {
    const headers = withKey(own('key'), { prefer: 'respond-async' })
    const first = JSON.parse((await post(server, `${echo}/run`, input, headers)).text)
    await ended(server, first.id)
    const second = await post(server, `${echo}/run`, input, headers)
    expect(second.status).toBe(202)
    expect(JSON.parse(second.text)).toMatchObject({ id: first.id, status: 'completed' })
  })

  it('is not used up by a request that is refused', async () => {
    const headers = withKey(own('key'))
    await expectProblem(server, await post(server, `${echo}/run`, {}, headers), 400, 'invalid_body')
    expect((await post(server, `${echo}/run`, input, headers)).status).toBe(200)
  })
}

function scopeCases(server: Server): void {
  it('is the owner', async () => {
    const key = own('key')
    const [a, b] = [as(own('owner')), as(own('owner'))]
    const ids = [
      await runId(server, withKey(key, a)),
      await runId(server, withKey(key, b)),
      await runId(server, withKey(key)),
    ]
    expect(new Set(ids).size).toBe(3)
    expect(await runId(server, withKey(key, a))).toBe(ids[0])
  })

  it('is the owner, whatever keys of providers come along', async () => {
    const headers = withKey(own('key'), as(own('owner')))
    const id = await runId(server, { ...headers, 'x-api-key': 'sk-test-one' })
    expect(await runId(server, { ...headers, 'x-api-key': 'sk-test-two' })).toBe(id)
    expect(await runId(server, headers, { ...input, apiKey: 'sk-test-three' })).toBe(id)
  })

  it.each(['authorization', 'cookie', 'x-api-key', 'x-provider-a-api-key'])(
    'is the credential in `%s` where there is no identity',
    async name => {
      const key = own('key')
      const one = withKey(key, { [name]: 'sk-test-one' })
      const ids = [
        await runId(server, one),
        await runId(server, withKey(key, { [name]: 'sk-test-two' })),
        await runId(server, withKey(key)),
      ]
      expect(new Set(ids).size).toBe(3)
      expect(await runId(server, one)).toBe(ids[0])
    },
  )

  it('is the kind and the name', async () => {
    const headers = withKey(own('key'))
    const paths = [echo, '/api/agents/shout', '/api/teams/line', '/api/workflows/count']
    const ids = await Promise.all(paths.map(path => runId(server, headers, input, path)))
    expect(new Set(ids).size).toBe(4)
  })
}

function badCases(server: Server): void {
  it.each([
    ['that is empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
  ])('%s is refused', async (_, key) => {
    for (const route of ['run', 'stream']) {
      const answer = await post(server, `${echo}/${route}`, input, withKey(key))
      await expectProblem(server, answer, 400, 'invalid_header')
    }
  })

  it('of 255 characters is none', async () => {
    const key = own('key').padEnd(255, 'k')
    expect(await runId(server, withKey(key))).toBe(await runId(server, withKey(key)))
  })
}

/** Makes two requests at once, one for JSON and one for a stream, in alternating order. Gives the ids of the runs. */
async function askTwice(server: Server, gate: string, index: number): Promise<string[]> {
  const headers = withKey(own('key'))
  const body = { input: gate }
  const json = () => run(server, '/api/agents/gated/run', body, headers).then(result => result.runId)
  const events = async () => {
    const { headers: answered, messages } = await stream(server, '/api/agents/gated/stream', body, headers)
    expect(messages.map(({ id }) => id)).toEqual(['1', '2', '3'])
    return answered.get('x-run-id') ?? ''
  }
  return Promise.all([json(), index % 2 === 0 ? json() : events()])
}

function instantCases(server: Server): void {
  it('with one key start one run, a hundred times', async () => {
    const tags = Array.from({ length: 100 }, () => own('gate'))
    await Promise.all(tags.map(tag => openGate(server, tag)))
    for (let start = 0; start < tags.length; start += 10) {
      const batch = tags.slice(start, start + 10)
      const pairs = await Promise.all(batch.map((tag, index) => askTwice(server, tag, index)))
      for (const [one, other] of pairs) expect(other).toBe(one)
    }
    const starts = (await notesOf(server)).filter(note => tags.some(tag => note === `${tag} started`))
    expect(starts).toHaveLength(100)
    expect(new Set(starts).size).toBe(100)
  })

  it('with two bodies start one run and refuse the other', async () => {
    const headers = withKey(own('key'))
    const gates = [own('gate'), own('gate')]
    await Promise.all(gates.map(gate => openGate(server, gate)))
    const ask = (gate: string) => post(server, '/api/agents/gated/run', { input: gate }, headers)
    const answers = await Promise.all(gates.map(ask))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const started = await Promise.all(gates.map(gate => isNoted(server, `${gate} started`)))
    expect(started.filter(Boolean)).toHaveLength(1)
  })
}
