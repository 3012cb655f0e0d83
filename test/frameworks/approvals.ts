/** The contract of the frameworks whose tools wait for an approval: their agents `shop` and `keyed-shop`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Answer, InputRequest, RunResult } from '../../src/index.ts'
import { askerOf, type withFramework } from './contract.ts'
import { SHOWN } from './served-framework.ts'

/** A message as the model gets it. */
interface Message {
  readonly role: string
  readonly content: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string }[]
}

/** The ways in which frameworks differ. */
export interface ApprovalTraits {
  /** Whether two calls are asked about together. Else the second is asked about once the first is answered. */
  readonly together: boolean
  /** What the model is told of a call that was approved, and then of one that was denied with a reason. */
  readonly toldOfBoth: readonly string[]
  /** Whether a request names the call. */
  readonly namesCall: boolean
  /** Whether its memory uses `sessionId`. */
  readonly remembers: boolean
  /** The tokens of the run that waits and of the one that goes on. Default: those of one answer each. */
  readonly tokens?: readonly [number, number]
}

/** Answers the run of a served framework over HTTP. */
export function answererOf(served: ReturnType<typeof withFramework>['served'], apiKey?: string) {
  return async (runId: string | undefined, ...answers: Answer[]): Promise<[number, RunResult]> => {
    const response = await fetch(`${served().url}/api/runs/${runId}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ answers, apiKey }),
    })
    return [response.status, await response.json()]
  }
}

const approve = ({ id }: InputRequest): Answer => ({ id, decision: 'approve' })
const refuse = ({ id }: InputRequest): Answer => ({ id, decision: 'deny', reason: 'too much' })

/** Serves the snippet of the page about models, whose agent `shop` asks once, and answers it. */
export function testShown(
  { installed }: ReturnType<typeof withFramework>,
  text: string,
  given: object,
): void {
  it('wait as the page shows', async () => {
    const shown = await installed().serve(SHOWN)
    const first = await askerOf(() => shown).run('shop', 'refund it')
    const [{ id = '' } = {}] = first.requests ?? []
    const second = await answererOf(() => shown)(first.runId, { id, ...given } as Answer)
    expect(second).toMatchObject([200, { text, finishReason: 'stop' }])
    await shown.stop()
  })
}

export function testApprovals(
  framework: ReturnType<typeof withFramework>,
  { together, toldOfBoth, namesCall, remembers, tokens = [12, 12] }: ApprovalTraits,
): void {
  const { served } = framework
  const { run, stream } = askerOf(served)
  const answer = answererOf(served)
  const asksIn = ({ requests = [] }: RunResult) => requests
  /** Everything that outlives the process. */
  const kept = async () => {
    const names = await readdir(served().state)
    const files = await Promise.all(names.map(name => readFile(join(served().state, name), 'latin1')))
    return files.join()
  }

  describe('tools that need an approval', () => {
    it('make a request, and run once they are approved', async () => {
      const first = await run('shop', 'refund it')
      expect(first).toMatchObject({ finishReason: 'input_required', usage: { totalTokens: tokens[0] } })
      expect(asksIn(first)).toEqual([
        expect.objectContaining({
          id: `${first.runId}/approve:refund`,
          kind: 'approval',
          toolName: 'refund',
          args: { order: 'A' },
          ...(namesCall && { toolCallId: 'call_1' }),
        }),
      ])
      const [status, second] = await answer(first.runId, ...asksIn(first).map(approve))
      expect([status, second]).toMatchObject([
        200,
        {
          text: 'The tool said: refunded A',
          finishReason: 'stop',
          usage: { totalTokens: tokens[1] },
          toolCalls: [
            { toolCallId: 'call_1', toolName: 'refund', result: expect.stringContaining('refunded A') },
          ],
        },
      ])
      expect(served().model.askedFor('refund it')).toHaveLength(2)
    })

    it('do not run where they are denied: the model is told why', async () => {
      const first = await run('shop', 'refund nothing')
      const [status, { text, toolCalls }] = await answer(first.runId, ...asksIn(first).map(refuse))
      expect([status, text]).toEqual([200, expect.stringContaining('too much')])
      expect(JSON.stringify(toolCalls)).not.toContain('refunded A')
    })

    it('are each decided, where there are two', async () => {
      const first = await run('shop', 'refund both')
      expect(asksIn(first).map(({ args }) => args)).toEqual(
        together ? [{ order: 'A' }, { order: 'B' }] : [{ order: 'A' }],
      )
      let last = first
      if (together) {
        const [one, two] = asksIn(first)
        const [, waits] = await answer(first.runId, refuse(two!))
        expect(asksIn(waits).map(({ id }) => id)).toEqual([one?.id])
        ;[, last] = await answer(first.runId, approve(one!))
      } else {
        const [, next] = await answer(first.runId, ...asksIn(first).map(approve))
        expect(asksIn(next)).toMatchObject([{ id: `${next.runId}/approve:refund#2`, args: { order: 'B' } }])
        ;[, last] = await answer(next.runId, ...asksIn(next).map(refuse))
      }
      expect(last).toMatchObject({ text: `The tool said: ${toldOfBoth.join(' and ')}`, finishReason: 'stop' })
    })

    it('may be asked about again in the run that goes on', async () => {
      const first = await run('shop', 'refund again')
      const [, second] = await answer(first.runId, ...asksIn(first).map(approve))
      expect(asksIn(second)).toMatchObject([
        { id: `${second.runId}/approve:refund#2`, args: { order: 'again' } },
      ])
      const [, third] = await answer(second.runId, ...asksIn(second).map(approve))
      expect(third).toMatchObject({
        // VoltAgent tells an earlier result with its type.
        text: expect.stringMatching(/^The tool said: .*refunded A.* and refunded again$/),
      })
    })

    it('are remembered in their session once', async () => {
      const session = { sessionId: 'shoppers', userId: 'ada' }
      const first = await run('shop', 'refund the session', session)
      const [, second] = await answer(first.runId, ...asksIn(first).map(approve))
      expect(second.text).toBe('The tool said: refunded A')
      expect((await run('shop', 'recall it', session)).text).toBe(
        remembers ? 'You said: refund the session' : 'You said: ',
      )
    })

    it.each([{}, { sessionId: 'mixers' }, { sessionId: 'mixers', userId: 'ada' }])(
      'run beside others, which are called once: %o',
      async session => {
        const said = `refund mixed ${JSON.stringify(session)}`
        const first = await run('shop', said, session)
        expect(asksIn(first)).toMatchObject([{ toolName: 'refund' }])
        const [, second] = await answer(first.runId, ...asksIn(first).map(approve))
        expect(second).toMatchObject({ finishReason: 'stop' })
        const { messages }: { messages: Message[] } = JSON.parse(
          served().model.askedFor(said).at(-1)?.text ?? '',
        )
        expect(messages.filter(({ role, content }) => role === 'user' && content === said)).toHaveLength(1)
        const calls = messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id))
        expect(calls.toSorted()).toEqual(['call_1', 'call_2'])
        const results = messages.filter(({ role }) => role === 'tool')
        expect(results.map(({ tool_call_id: id }) => id).toSorted()).toEqual(['call_1', 'call_2'])
      },
    )

    it('tell the call again in the run that goes on, as events', async () => {
      const first = await stream('shop', 'refund streamed')
      expect(first.map(({ type }) => type)).not.toContain('tool_call_end')
      expect(first.at(-1)).toMatchObject({ type: 'finish', finishReason: 'input_required' })
    })

    it('are approved after a restart, and no key of a model is kept', async () => {
      const apiKey = 'sk-a-key-of-a-client-0123456789'
      const first = await run('keyed-shop', 'refund after a restart', { apiKey })
      expect(served().model.askedFor('refund after').at(-1)?.authorization).toBe(`Bearer ${apiKey}`)
      await served().restart()
      expect(await kept()).toContain('refund')
      expect(await kept()).not.toContain(apiKey)
      const approved = asksIn(first).map(approve)
      expect(await answer(first.runId, ...approved)).toMatchObject([400, { code: 'key_required' }])
      const withKey = answererOf(served, apiKey)
      expect(await withKey(first.runId, ...approved)).toMatchObject([
        200,
        { text: 'The tool said: refunded A', finishReason: 'stop' },
      ])
    })
  })
}
