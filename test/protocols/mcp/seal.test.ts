/** Handles of runs that wait: of one run, one owner and one tool. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agent, bearerAuth, createHandler, memoryState, Registry } from '../../../src/index.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { createHandleSeal, isHandle } from '../../../src/protocols/mcp/seal.ts'
import { SHOWS_FORMS, serve } from './calling.ts'

const RUN = '0190a1b2-c3d4-4e5f-8a9b-0123456789ab'
const OTHER = '0190a1b2-c3d4-4e5f-8a9b-0123456789ac'
const holder = { owner: 'ann', tool: 'pay' }
const SECRET = 'a secret of more than thirty-two characters'

const seals = [
  ['with a secret', createHandleSeal(SECRET)],
  ['without one', createHandleSeal()],
] as const

describe.each(seals)('a seal %s', (_, seal) => {
  it('opens what it has closed', async () => {
    for (const owner of ['ann', '', null]) {
      const handle = await seal.close(RUN, { owner, tool: 'pay' })
      expect(isHandle(handle)).toBe(true)
      expect(await seal.open(handle, { owner, tool: 'pay' })).toBe(RUN)
    }
  })

  it('opens nothing that was changed', async () => {
    const handle = await seal.close(RUN, holder)
    const letters = fc.constantFrom(...'0123456789abcdefABCDEF-. \n\0é')
    await fc.assert(
      fc.asyncProperty(
        fc.nat(handle.length - 1),
        letters,
        fc.constantFrom(0, 1),
        async (at, letter, length) => {
          const changed = handle.slice(0, at) + letter + handle.slice(at + length)
          fc.pre(changed !== handle)
          expect(await seal.open(changed, holder)).toBeUndefined()
        },
      ),
      { numRuns: 500 },
    )
    for (const changed of [
      ...['', '.', RUN, `${RUN}.`, `${handle}\n`, ` ${handle}`, `${handle}.${handle}`, handle.toUpperCase()],
      handle.slice(0, -1),
      handle.replace(RUN, OTHER),
    ])
      expect(await seal.open(changed, holder)).toBeUndefined()
  })

  it('opens nothing that is of another owner, tool or run', async () => {
    const owners = fc.option(fc.string())
    await fc.assert(
      fc.asyncProperty(
        owners,
        fc.string(),
        owners,
        fc.string(),
        async (owner, tool, otherOwner, otherTool) => {
          const handle = await seal.close(RUN, { owner, tool })
          expect(await seal.open(handle, { owner, tool })).toBe(RUN)
          fc.pre(owner !== otherOwner || tool !== otherTool)
          expect(await seal.open(handle, { owner: otherOwner, tool: otherTool })).toBeUndefined()
        },
      ),
      { numRuns: 300 },
    )
    const [, proof] = (await seal.close(RUN, holder)).split('.')
    expect(await seal.open(`${OTHER}.${proof}`, holder)).toBeUndefined()
    // Whoever is nobody is not whoever is called so.
    expect(
      await seal.open(await seal.close(RUN, { owner: null, tool: 'pay' }), { owner: 'null', tool: 'pay' }),
    ).toBe(undefined)
  })

  it('makes the same handle again', async () => {
    expect(await seal.close(RUN, holder)).toBe(await seal.close(RUN, holder))
  })
})

it('opens nothing of another secret', async () => {
  const all = [
    createHandleSeal(),
    createHandleSeal(SECRET),
    createHandleSeal(`${SECRET}.`),
    createHandleSeal(SECRET.toUpperCase()),
  ]
  for (const [at, one] of all.entries())
    for (const [of, other] of all.entries())
      expect((await other.open(await one.close(RUN, holder), holder)) === RUN).toBe(at === of)
})

describe('the state of a call that waits', () => {
  const agents = Object.fromEntries(
    ['pay', 'other'].map(name => [
      name,
      new Agent({
        ...{ name, register: false },
        async *run(_, { ask }) {
          yield `said ${yield* ask('q')}`
        },
      }),
    ]),
  )
  const state = memoryState()
  const middleware = [bearerAuth({ tokens: { 'token-of-ann': 'ann', 'token-of-bob': 'bob' } })]
  const as = (who: string) => ({
    headers: { authorization: `Bearer token-of-${who}` },
    capabilities: SHOWS_FORMS,
  })
  const inputResponses = { q: { action: 'accept', content: { answer: 'yes' } } }

  it.each([
    ['with a secret', SECRET],
    ['without one', undefined],
  ])('is of whoever has called, and of that tool, %s', async (_, secret) => {
    const { call } = serve({ tools: true, secret }, { agents, state, middleware })
    const { requestState } = (await call('pay', { input: 'x' }, as('ann'))).result
    expect(requestState).not.toContain('ann')
    const answer = (name: string, who: string, given: unknown) =>
      call(name, { input: 'x' }, { ...as(who), params: { requestState: given, inputResponses } })
    for (const [name, who] of [
      ['pay', 'bob'],
      ['other', 'ann'],
      ['other', 'bob'],
    ] as const) {
      const { status, error } = await answer(name, who, requestState)
      expect([status, error.code, error.message]).toEqual([400, -32602, '`requestState` is not of this call'])
    }
    for (const given of ['', 'x', 7, {}, [requestState], `${requestState}0`, 'x'.repeat(1_000_000)]) {
      const { status, error } = await answer('pay', 'ann', given)
      expect([status, error.code]).toEqual([400, -32602])
    }
    const { result } = await answer('pay', 'ann', requestState)
    expect(result.content[0].text).toBe('said yes')
  })

  it('is taken by every process with the same secret', async () => {
    const make = (secret: string) => serve({ tools: true, secret }, { agents, state: memoryState() })
    const { requestState } = (await make(SECRET).call('pay', { input: 'x' }, { capabilities: SHOWS_FORMS }))
      .result
    const asked = { capabilities: SHOWS_FORMS, params: { requestState, inputResponses } }
    // The other process has another store: it knows the handle, and not the run.
    const same = await make(SECRET).call('pay', { input: 'x' }, asked)
    const other = await make(`${SECRET}.`).call('pay', { input: 'x' }, asked)
    expect([same.result.isError, other.error.data]).toEqual([true, { code: 'invalid_body' }])
  })

  it('may be given as the session of a call in words, by whoever has it', async () => {
    const { call } = serve({ tools: true }, { agents, state, middleware })
    const { headers } = as('ann')
    const { result } = await call('pay', { input: 'x' }, { headers })
    const [, sessionId = ''] = /`sessionId` `([^`]+)`/.exec(result.content[0].text) ?? []
    expect(isHandle(sessionId)).toBe(true)
    const bob = await call('pay', { input: 'yes', sessionId }, { headers: as('bob').headers })
    expect([bob.status, bob.result.isError]).toEqual([200, true])
    expect((await call('pay', { input: 'yes', sessionId }, { headers })).result.content[0].text).toBe(
      'said yes',
    )
  })

  it('needs no store of its own where nothing waits', async () => {
    const plain = new Agent({ name: 'plain', register: false, run: () => 'x' })
    const handler = createHandler({
      ...{ registry: new Registry(), logger: false, agents: { plain }, runs: { store: 'none' } },
      plugins: [mcp({ tools: true })],
    })
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","arguments":{"input":"x"}}}'
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const response = await handler(new Request('http://127.0.0.1/mcp', init))
    expect((await response.json()).result.content).toEqual([{ type: 'text', text: 'x' }])
  })
})
