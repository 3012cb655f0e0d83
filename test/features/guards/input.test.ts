import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { approvals } from '../../../src/features/approvals/plugin.ts'
import {
  type ClientInput,
  type GuardContext,
  guards,
  mapTexts,
  refuse,
} from '../../../src/features/guards/plugin.ts'
import { changeJson, changeJsonText } from '../../../src/features/guards/texts.ts'
import { Agent, createHandler, type RunEvent, type RunInput, tool } from '../../../src/index.ts'
import { identify } from '../../contracts/identify.ts'
import { eventually } from '../../eventually.ts'
import { never } from '../../support.ts'
import { ask, type Body, guardedHandler, MASK } from './kit.ts'

/** Tells what it was asked. */
const repeats: Body = async function* (input: RunInput, { history }) {
  const structured = { input, history: history ?? null }
  yield { type: 'finish', finishReason: 'stop', structured } as RunEvent
}

async function heard(options: Parameters<typeof guards>[0], body: object | string, more = {}) {
  const answer = await ask(guardedHandler(repeats, options, more), body)
  const { structured, code, error } = (await answer.json()) as Record<string, unknown>
  return answer.ok ? structured : { status: answer.status, code, error }
}

describe('guards of an input', () => {
  it('see it one after the other, those of all runs first, with who says it to whom', async () => {
    const seen: unknown[] = []
    const onInput = (said: ClientInput, context: object) => {
      seen.push([said, { ...context, signal: undefined }])
      return { input: `${said.input}+` }
    }
    const options = {
      onInput: [onInput, onInput],
      agents: { tested: { onInput }, other: { onInput: () => refuse('never') } },
      teams: { tested: { onInput: () => refuse('never') } },
    }
    expect(await heard(options, { input: 'a', sessionId: 's' })).toEqual({ input: 'a+++', history: null })
    const context = { kind: 'agent', name: 'tested', identity: undefined, sessionId: 's', signal: undefined }
    expect(seen).toEqual(['a', 'a+', 'a++'].map(input => [{ input, history: undefined }, context]))
  })

  it('let it pass, replace it and its history, or refuse it', async () => {
    const history = [{ role: 'user', content: 'before' }]
    expect(await heard({ onInput: () => {} }, { input: 'a', history })).toEqual({ input: 'a', history })
    expect(await heard({ onInput: () => ({ history: [] }) }, { input: 'a', history })).toEqual({
      input: 'a',
      history: [],
    })
    expect(await heard({ onInput: async () => refuse('Not now') }, 'a')).toEqual({
      status: 422,
      code: 'input_refused',
      error: 'Not now',
    })
    const thrown = () => {
      throw refuse('Not now')
    }
    expect(await heard({ onInput: thrown }, 'a', { production: true })).toMatchObject({
      code: 'input_refused',
    })
  })

  it('fail closed: what they throw is masked in production, and told to the log', async () => {
    const entries: object[] = []
    const logger = (entry: object) => void entries.push(entry)
    const broken = () => {
      throw new Error('the vault is empty')
    }
    expect(await heard({ onInput: broken }, 'a', { production: true, logger })).toEqual({
      status: 500,
      code: 'guard_failed',
      error: 'Internal server error',
    })
    expect(JSON.stringify(entries)).toContain('the vault is empty')
  })

  it.each<[string, unknown]>([
    ['a text', 'text'],
    ['an empty input', { input: '' }],
    ['no input', { input: 1 }],
    ['what was not said', { answers: [] }],
    ['what nobody knows', { more: 1 }],
    ['a history that is none', { history: [{ role: 'nobody' }] }],
  ])('may not give %s', async (_, given) => {
    expect(await heard({ onInput: () => given as ClientInput }, 'a')).toMatchObject({ code: 'guard_failed' })
  })

  it('have the time of a run, and hear when it is over or the client leaves', async () => {
    const signals: AbortSignal[] = []
    const onInput = (_: ClientInput, { signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return never() as Promise<undefined>
    }
    expect(await heard({ onInput }, 'a', { runs: { timeoutMs: 30 } })).toMatchObject({ code: 'run_timeout' })
    expect(signals[0]?.aborted).toBe(true)
    const leaving = new AbortController()
    const body = JSON.stringify({ input: 'a' })
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body, signal: leaving.signal }
    const url = 'http://localhost/api/agents/tested/run'
    const left = guardedHandler(repeats, { onInput })(new Request(url, request))
    await eventually(() => expect(signals).toHaveLength(2))
    leaving.abort()
    await Promise.resolve(left).catch(() => {})
    expect(signals[1]?.aborted).toBe(true)
  })

  it('mask all that is text', async () => {
    const input = [
      { type: 'text', text: 'a 1234-5678' },
      { type: 'data', data: { '1234-5678': ['1234-5678'] } },
      { type: 'file', data: 'MTIz', mimeType: 'text/plain', filename: '1234-5678.txt' },
      { type: 'image', data: 'https://example.com/?n=1234-5678' },
    ]
    const history = [
      { role: 'user', content: '1234-5678' },
      {
        role: 'assistant',
        content: [{ type: 'text', text: '1234-5678' }],
        toolCalls: [{ toolCallId: '1234-5678', toolName: 'pay', args: { card: '1234-5678' } }],
      },
      { role: 'tool', toolCallId: '1234-5678', result: ['1234-5678'] },
    ]
    const told = JSON.stringify(await heard({ onInput: MASK }, { input, history }))
    expect(told.match(/1234-5678/g)).toHaveLength(2)
    expect(told.match(/"toolCallId":"1234-5678"/g)).toHaveLength(2)
    expect(told.match(/\[card\]/g)).toHaveLength(9)
  })
})

describe('guards of answers', () => {
  it('see what another person decides, before it is kept', async () => {
    const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })
    const pays = new Agent({
      name: 'pays',
      register: false,
      tools: [pay],
      async *run(_, { callTool }) {
        try {
          yield* callTool(pay, {})
        } catch (error) {
          yield String(error)
        }
      },
    })
    const seen: unknown[] = []
    const onInput = (said: ClientInput, { identity, name }: GuardContext) => {
      seen.push([identity, name, Object.keys(said)])
      return mapTexts(said, text => text.replace('1234-5678', '[card]'))
    }
    const handler = createHandler({
      ...{ agents: { pays }, registry: false, logger: false, middleware: [identify] },
      plugins: [approvals({ authorize: (_, { identity }) => identity?.id === 'bob' }), guards({ onInput })],
    })
    const post = async (path: string, who: string, body: object) => {
      const headers = { 'content-type': 'application/json', 'x-test-user': who }
      const request = new Request(`http://localhost/api/${path}`, {
        ...{ method: 'POST', headers, body: JSON.stringify(body) },
      })
      return (await handler(request)).json()
    }
    const { runId, requests } = await post('agents/pays/run', 'ann', { input: 'x' })
    const answers = [{ id: requests[0].id, decision: 'deny', reason: 'not 1234-5678' }]
    const path = `runs/${runId}/answers`
    expect(await post(path, 'eve', { answers })).toMatchObject({ code: 'run_not_found' })
    expect(await post(path, 'bob', { answers })).toMatchObject({ goesOn: true })
    expect(seen).toEqual([
      ['ann', 'pays', ['input', 'history']],
      ['bob', 'pays', ['answers']],
    ])
    const look = (id: string) =>
      handler(new Request(`http://localhost/api/runs/${id}`, { headers: { 'x-test-user': 'ann' } }))
    const { continuedBy } = await (await look(runId)).json()
    await eventually(async () =>
      expect(await (await look(continuedBy)).json()).toMatchObject({
        result: { text: 'ServableError: The call was denied: not [card]' },
      }),
    )
  })
})

describe('the options', () => {
  it.each<[object, RegExp]>([
    [{ onInput: 1 }, /onInput/],
    [{ onInput: { mask: [] } }, /mask.*at least one/],
    [{ onInput: { whole: () => {} } }, /whole/],
    [{ onOutput: { mask: [{ pattern: 'x' }] } }, /pattern.*regular expression/],
    [{ onOutput: { mask: [{ pattern: /x/y }] } }, /flag y/],
    [{ onOutput: { mask: [{ pattern: /x/, with: 1 }] } }, /with/],
    [{ onOutput: { mask: [{ pattern: /x/ }], holdback: 0 } }, /holdback/],
    [{ onOutput: { mask: [{ pattern: /x/ }], holdback: 10_001 } }, /holdback/],
    [{ onOutput: [{ whole: 1 }] }, /whole/],
    [{ onOutput: { whole: () => {}, maxLength: 1e9 } }, /maxLength/],
    [{ agents: { a: { oninput: () => {} } } }, /oninput/],
    [{ agents: [] }, /agents/],
    [{ other: 1 }, /other/],
  ])('are checked: %j', (options, message) => {
    expect(() => guards(options as never)).toThrow(message)
    expect(() => guards(options as never)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })
})

describe('texts in JSON', () => {
  const upper = (text: string) => text.toUpperCase()

  it('are changed, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(changeJson(value, text => text)).toBe(value)
        const same = JSON.stringify(value)
        expect(changeJsonText(same, text => text)).toBe(same)
        const strings: string[] = []
        const note = (text: string) => {
          strings.push(text)
          return text
        }
        changeJsonText(same, note)
        const known: string[] = []
        JSON.parse(same, (_key, member: unknown) => {
          if (typeof member === 'string') known.push(member)
          if (typeof member === 'number') known.push(JSON.stringify(member))
          if (typeof member === 'object' && member && !Array.isArray(member))
            known.push(...Object.keys(member))
          return member
        })
        expect(strings.sort()).toEqual(known.sort())
      }),
    )
  })

  it('may be as deep as JSON can be', () => {
    const depth = 6000
    const deep = `${'[{"a":'.repeat(depth)}"x"${'}]'.repeat(depth)}`
    expect(changeJsonText(deep, upper)).toBe(`${'[{"A":'.repeat(depth)}"X"${'}]'.repeat(depth)}`)
  })

  it('make texts of numbers that are changed', () => {
    expect(changeJson({ n: 42, m: 4 }, text => text.replace('42', '#'))).toEqual({ n: '#', m: 4 })
  })

  it('refuse what is no JSON', () => {
    const loop: unknown[] = []
    loop.push(loop)
    expect(() => changeJson(loop, upper)).toThrow(expect.objectContaining({ code: 'invalid_event' }))
  })

  it('are changed in answers, and ids are not', () => {
    const answers = [
      { id: 'a/x', digest: 'd', decision: 'approve', reason: 'why', editedArgs: { to: 'x' } },
      { id: 'a/y', value: 'v' },
      { id: 'a/z', result: ['r'] },
    ] as const
    expect(mapTexts({ answers }, upper).answers).toEqual([
      { id: 'a/x', digest: 'd', decision: 'approve', reason: 'WHY', editedArgs: { TO: 'X' } },
      { id: 'a/y', value: 'V' },
      { id: 'a/z', result: ['R'] },
    ])
  })
})
