/** What runs ask, and how people answer through their clients. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { as, get, own, post, type Server } from '../runs/client.ts'
import {
  type Asked,
  accepted,
  ask,
  begin,
  CANCELLED,
  call,
  callOf,
  DECLINED,
  expectRefused,
  FORMS,
  fateOf,
  hear,
  type Json,
  LEGACY,
  type Session,
  said,
  told,
} from './client.ts'

/** An amount of one test: what was paid is counted. */
const amount = () => `${crypto.getRandomValues(new Uint32Array(1))[0]}`

const REFUSED = 'Nobody has answered: the run was cancelled'

/** The run of a handle. */
const runOf = (handle: string) => handle.split('.')[0] ?? ''

export function askingCases(server: Server): void {
  /** Calls a tool that asks. */
  const asking = async (name: string, args: string | object = 'x', asked: Asked = {}): Promise<Json> => {
    const result = await call(server, name, args, { can: FORMS, ...asked })
    expect(result.resultType, JSON.stringify(result)).toBe('input_required')
    expect(result.requestState).toMatch(/^\S{1,200}$/)
    return result
  }
  /** The same call once more, with answers. */
  const goOn = (name: string, args: string | object, requestState: unknown, inputResponses?: object) => ({
    ...callOf(name, args),
    requestState,
    ...(inputResponses && { inputResponses }),
  })
  const answer = async (
    name: string,
    args: string | object,
    { requestState }: Json,
    inputResponses?: object,
    asked: Asked = {},
  ): Promise<Json> => {
    const params = goOn(name, args, requestState, inputResponses)
    const { status, json, text } = await told(
      ask(server, 'tools/call', params, { id: 'again', can: FORMS, ...asked }),
    )
    expect([status, json.id], text).toEqual([200, 'again'])
    expect(json.result, text).toBeDefined()
    return json.result
  }
  const statusOf = async (runId: string, headers = {}) => (await get(server, runId, headers)).status

  describe.concurrent('a question', () => {
    it('is a form, and the same call with its answer goes on', async () => {
      const asked = await asking('asks')
      expect(asked.inputRequests).toEqual({
        size: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'A shirt. \n\nWhich size?',
            requestedSchema: {
              type: 'object',
              properties: { answer: { type: 'string' } },
              required: ['answer'],
            },
          },
        },
      })
      const given = { size: accepted({ answer: 'M' }) }
      const done = await answer('asks', 'x', asked, given)
      expect([said(done), done.isError]).toEqual(['It is M.', undefined])
      // The same answers again are the same result; others come too late.
      expect(await answer('asks', 'x', asked, given)).toEqual(done)
      expect(await answer('asks', 'x', asked, { size: accepted({ answer: 'L' }) })).toEqual(done)
    })

    it('follows another one', async () => {
      const input = own('twice')
      const first = await asking('asksTwice', input)
      expect(Object.keys(first.inputRequests)).toEqual(['name'])
      const second = await answer('asksTwice', input, first, { name: accepted({ name: 'Ann' }) })
      expect([second.resultType, Object.keys(second.inputRequests)]).toEqual(['input_required', ['hue']])
      expect(second.requestState).not.toBe(first.requestState)
      const done = await answer('asksTwice', input, second, { hue: accepted({ hue: 'red' }) })
      expect(said(done)).toBe(`Ann likes red, for ${input}`)
      // The first state still leads to what came of it.
      expect(said(await answer('asksTwice', input, first))).toBe(`Ann likes red, for ${input}`)
    })

    it('is asked again while it is open', async () => {
      const asked = await asking('asks')
      for (const given of [undefined, {}, { other: accepted({ answer: 'M' }) }]) {
        const again = await answer('asks', 'x', asked, given)
        expect([again.resultType, again.requestState]).toEqual(['input_required', asked.requestState])
      }
      expect(said(await answer('asks', 'x', asked, { size: accepted({ answer: 'S' }) }))).toContain(
        'It is S.',
      )
    })

    it('of several is answered one after the other', async () => {
      const asked = await asking('asksBoth')
      expect(Object.keys(asked.inputRequests)).toEqual(['left', 'right'])
      const rest = await answer('asksBoth', 'x', asked, { right: accepted({ right: 'R' }) })
      expect([rest.resultType, Object.keys(rest.inputRequests)]).toEqual(['input_required', ['left']])
      const done = await answer('asksBoth', 'x', rest, { left: accepted({ left: 'L' }) })
      expect(JSON.parse(said(done))).toEqual([{ left: 'L' }, { right: 'R' }])
    })

    it.each([
      ['declined', DECLINED],
      ['cancelled', CANCELLED],
    ])('that is %s ends the run', async (_, refusal) => {
      const asked = await asking('asks')
      const done = await answer('asks', 'x', asked, { size: refusal })
      expect([done.isError, said(done)]).toEqual([true, REFUSED])
      expect(await statusOf(runOf(asked.requestState))).toBe('cancelled')
      const late = await answer('asks', 'x', asked, { size: accepted({ answer: 'M' }) })
      expect([late.isError, late.resultType]).toEqual([true, 'complete'])
    })

    it('is answered in the call itself', async () => {
      const params = { inputResponses: { size: accepted({ answer: 'M' }) } }
      const done = await call(server, 'asks', 'x', { can: FORMS, params })
      expect(said(done)).toBe('A shirt. It is M.')
    })

    it('has answers that are actions', async () => {
      const { requestState } = await asking('asks')
      for (const inputResponses of [{ size: 'M' }, { size: { action: 'yes' } }, { size: null }, ['M'], 'M'])
        await expectRefused(
          server,
          goOn('asks', 'x', requestState, inputResponses as object),
          [400, -32602],
          {
            can: FORMS,
          },
        )
    })
  })

  describe('the state of a call', () => {
    it('is of one run, one tool and one owner', async () => {
      const ann = { headers: as(own('ann')), can: FORMS }
      const asked = await asking('asks', 'x', ann)
      const state: string = asked.requestState
      const given = { size: accepted({ answer: 'M' }) }
      const wrong = [400, -32602] as const
      const other = `${crypto.randomUUID()}${state.slice(36)}`
      for (const changed of [
        `${state.slice(0, -1)}${state.endsWith('0') ? '1' : '0'}`,
        ...[other, runOf(state), '', 'x', `${state}.`, 7, {}],
      ])
        await expectRefused(server, goOn('asks', 'x', changed, given), wrong, ann)
      await expectRefused(server, goOn('asks_of', {}, state, given), wrong, ann)
      for (const headers of [as(own('eve')), {}])
        await expectRefused(server, goOn('asks', 'x', state, given), wrong, { can: FORMS, headers })
      expect(await statusOf(runOf(state), ann.headers)).toBe('input_required')
      expect(said(await answer('asks', 'x', asked, given, ann))).toContain('It is M.')
    })

    it('of nobody is for whoever has it, but for no other tool', async () => {
      const asked = await asking('asks')
      const given = { size: accepted({ answer: 'M' }) }
      await expectRefused(server, goOn('asks', 'x', asked.requestState, given), [400, -32602], {
        ...{ can: FORMS, headers: as(own('eve')) },
      })
      expect(said(await answer('asks', 'x', asked, given))).toContain('It is M.')
    })
  })

  describe('an approval', () => {
    it('is a decision that a person fills in', async () => {
      const paid = amount()
      const asked = await asking('pays', paid)
      expect(asked.inputRequests.pay.params).toEqual({
        mode: 'form',
        message: `I pay. \n\nApprove \`pay\`: {"amount":${paid}}`,
        requestedSchema: {
          type: 'object',
          properties: { decision: { type: 'string', enum: ['approve', 'deny'] }, reason: { type: 'string' } },
          required: ['decision'],
        },
      })
      expect(await fateOf(server, `paid ${paid}`)).toBe('unknown')
      // A form that was accepted by itself approves nothing.
      for (const content of [undefined, {}, { decision: true }])
        await expectRefused(
          server,
          goOn('pays', paid, asked.requestState, { pay: accepted(content) }),
          [400, -32602],
          { can: FORMS },
        )
      const given = { pay: accepted({ decision: 'approve' }) }
      expect(said(await answer('pays', paid, asked, given))).toContain(`paid ${paid}`)
      await answer('pays', paid, asked, given)
      expect(await fateOf(server, `paid ${paid}`)).toBe('1')
    })

    it.each([
      ['denied', accepted({ decision: 'deny', reason: 'too much' }), /not paid: .*too much/],
      ['declined', DECLINED, /not paid:/],
    ])('that is %s is told to the agent', async (_, refusal, text) => {
      const paid = amount()
      const asked = await asking('pays', paid)
      const done = await answer('pays', paid, asked, { pay: refusal })
      expect([said(done), done.isError]).toEqual([expect.stringMatching(text), undefined])
      expect(await fateOf(server, `paid ${paid}`)).toBe('unknown')
    })

    it('that is cancelled ends the run', async () => {
      const paid = amount()
      const asked = await asking('pays', paid)
      expect(said(await answer('pays', paid, asked, { pay: CANCELLED }))).toBe(REFUSED)
      expect(await fateOf(server, `paid ${paid}`)).toBe('unknown')
    })

    it('is not given before it was asked for', async () => {
      const paid = amount()
      const params = { inputResponses: { pay: accepted({ decision: 'approve' }) } }
      const asked = await call(server, 'pays', paid, { can: FORMS, params })
      expect(asked.resultType).toBe('input_required')
      expect(await fateOf(server, `paid ${paid}`)).toBe('unknown')
    })
  })

  describe('a client without forms', () => {
    const handleIn = (result: Json): string => / `sessionId` `(\S+)`/.exec(said(result))?.[1] ?? ''

    it.each([
      ['of the newest revision', undefined],
      ['of an earlier one', LEGACY[0]],
    ])('is asked in words, and answers with the handle that they name: %s', async (_, revision) => {
      const session = revision && (await begin(server, revision))
      const ofTool = async (args: string | object): Promise<Json> =>
        session ? (await told(session.call('asks', args))).json.result : call(server, 'asks', args)
      const asked = await ofTool('x')
      expect(said(asked)).toContain('Which size?\n\nTo go on, call `asks` again with the answer as `input`')
      const sessionId = handleIn(asked)
      expect(said(await ofTool({ input: 'M', sessionId }))).toBe('It is M.')
    })

    it('has what a person approves elsewhere', async () => {
      const ann = as(own('ann'))
      const paid = amount()
      const first = await call(server, 'pays', paid, { headers: ann })
      const sessionId = handleIn(first)
      expect(said(first)).toContain('once a person has approved')
      // Text approves nothing.
      const again = await call(server, 'pays', { input: 'approve', sessionId }, { headers: ann })
      expect([handleIn(again), await fateOf(server, `paid ${paid}`)]).toEqual([sessionId, 'unknown'])
      const [request] = (await get(server, runOf(sessionId), ann)).requests ?? []
      const answers = [{ id: request?.id, decision: 'approve' }]
      const path = `/api/runs/${runOf(sessionId)}/answers`
      expect((await post(server, path, { answers }, { ...ann, prefer: 'respond-async' })).status).toBe(202)
      const done = await call(server, 'pays', { input: 'go on', sessionId }, { headers: ann })
      expect(said(done)).toContain(`paid ${paid}`)
      expect(await fateOf(server, `paid ${paid}`)).toBe('1')
    })

    it('has no handle of another’s', async () => {
      const ann = as(own('ann'))
      const sessionId = handleIn(await call(server, 'asks', 'x', { headers: ann }))
      const args = { input: 'M', sessionId }
      for (const headers of [as(own('eve')), {}]) {
        const { isError, content } = await call(server, 'asks', args, { headers })
        expect([isError, content]).toEqual([
          true,
          [{ type: 'text', text: expect.stringMatching(/^What waited for this answer is gone/) }],
        ])
      }
      expect(said(await call(server, 'asks', args, { headers: ann }))).toBe('It is M.')
    })
  })

  describe.concurrent('a session whose client shows forms', () => {
    const begun = async (headers = {}, revision: string = LEGACY[0]) =>
      begin(server, revision, { elicitation: {} }, headers)
    /** The stream of a call, which begins at once where progress is wanted. */
    const streamOf = async (
      session: Session,
      name: string,
      { input = 'x', ...asked }: Asked & { readonly input?: string } = {},
    ) => {
      const { next, rest } = await hear(session.call(name, input, { meta: { progressToken: 1 }, ...asked }))
      /** The next message that is no progress. */
      const question = async (): Promise<Json> => {
        const message = await next()
        return message.method === 'notifications/progress' ? question() : message
      }
      return { question, rest }
    }

    it.each(LEGACY)('is asked on its stream, and answers with a message of its own: %s', async revision => {
      const session = await begun({}, revision)
      const { question, rest } = await streamOf(session, 'asksTwice')
      for (const [key, value] of [
        ['name', 'Ann'],
        ['hue', 'red'],
      ] as const) {
        const { id, method, params } = await question()
        expect([method, params.requestedSchema.required]).toEqual(['elicitation/create', [key]])
        const content = { [key]: value }
        const answered = await session.send({ jsonrpc: '2.0', id, result: accepted(content) })
        expect([answered.status, await answered.text()]).toEqual([202, ''])
      }
      expect((await rest()).at(-1)).toMatchObject({
        id: 1,
        result: { content: [{ text: 'Ann likes red, for x' }] },
      })
    })

    it.each([
      ['declines', { result: DECLINED }],
      ['fails', { error: { code: -1, message: 'No' } }],
    ])('ends the call if it %s', async (_, refusal) => {
      const session = await begun()
      const { question, rest } = await streamOf(session, 'asks')
      const { id } = await question()
      await session.send({ jsonrpc: '2.0', id, ...refusal })
      const { isError, content } = (await rest()).at(-1)?.result ?? {}
      expect([isError, content]).toEqual([true, [{ type: 'text', text: REFUSED }]])
    })

    it('is answered by its owner alone', async () => {
      const ann = as(own('ann'))
      const session = await begun(ann)
      const { question, rest } = await streamOf(session, 'asks')
      const { id } = await question()
      for (const headers of [as(own('eve')), { 'x-test-user': '' }]) {
        const message = { jsonrpc: '2.0', id, result: accepted({ answer: 'evil' }) }
        const other = await begun(headers['x-test-user'] ? headers : {})
        expect((await other.send(message)).status).toBe(202)
      }
      await session.send({ jsonrpc: '2.0', id, result: accepted({ answer: 'M' }) })
      expect(said((await rest()).at(-1)?.result)).toBe('A shirt. It is M.')
    })

    it('is told what came of an answer that was given elsewhere', async () => {
      const ann = as(own('ann'))
      const paid = amount()
      const session = await begun(ann)
      const { question, rest } = await streamOf(session, 'pays', { input: paid })
      const runId = runOf((await question()).id)
      const [request] = (await get(server, runId, ann)).requests ?? []
      const answers = [{ id: request?.id, decision: 'approve' }]
      const headers = { ...ann, prefer: 'respond-async' }
      expect((await post(server, `/api/runs/${runId}/answers`, { answers }, headers)).status).toBe(202)
      expect(said((await rest()).at(-1)?.result)).toContain(`paid ${paid}`)
    })

    it('cancels the run that waits for it, and by leaving too', async () => {
      const ann = as(own('ann'))
      const session = await begun(ann)
      const waiting = async (id: number, signal?: AbortSignal) => {
        const { question, rest } = await streamOf(session, 'asks', { id, ...(signal && { signal }) })
        return { runId: runOf((await question()).id), rest }
      }
      const first = await waiting(1)
      await session.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
      await eventually(async () => expect(await statusOf(first.runId, ann)).toBe('cancelled'))
      await first.rest()
      const leaving = new AbortController()
      const second = await waiting(2, leaving.signal)
      leaving.abort()
      await eventually(async () => expect(await statusOf(second.runId, ann)).toBe('cancelled'))
    })

    it('that takes no stream is asked in words', async () => {
      const session = await begun()
      const { json } = await told(session.call('asks', 'x', { accept: 'application/json' }))
      expect(said(json.result)).toContain('To go on, call `asks` again')
    })
  })
}
