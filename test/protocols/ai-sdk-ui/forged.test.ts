/** Pages that claim what they may not: approvals that nobody asked for, of others, twice, and with other arguments. */
import { describe, expect, it } from 'vitest'
import { memoryState } from '../../../src/index.ts'
import { CLIENTS, inProcess, open, type Part } from '../../contracts/ai-sdk-ui/clients.ts'
import { calls, last, post } from '../../contracts/ai-sdk-ui/page.ts'
import { handlerOn } from '../../contracts/ai-sdk-ui/service.ts'

const newest = CLIENTS.at(-1)!

/** Each chat pays an amount of its own. */
let amounts = 1000

describe.each(['leave', 'resume'])('with the settings %s', settings => {
  const handler = handlerOn(memoryState(), settings, { logger: false })
  const service = inProcess(handler)

  const paid = async (amount: number) => {
    const answer = await handler(
      new Request('http://127.0.0.1/api/agents/paid/run', post({ input: `${amount}` })),
    )
    return (await answer.json()).text
  }

  /** A chat that waits for an approval, and what its page would send. */
  const waiting = async () => {
    const amount = amounts++
    const user = `ann-${crypto.randomUUID()}`
    const { chat } = open(newest, service, 'agents/pays', { user })
    await chat.sendMessage({ text: `${amount}` })
    const [call] = calls(last(chat))
    const approvalId = String(Object(call?.approval).id)
    const send = async (change: (part: Part) => Part, who = user, name = 'pays') => {
      const parts = last(chat)?.parts.map(part => (part.type === 'dynamic-tool' ? change(part) : part))
      const messages = [...chat.messages.slice(0, -1), { ...last(chat), parts }]
      const body = { id: chat.id, trigger: 'submit-message', messageId: last(chat)?.id, messages }
      const url = `http://127.0.0.1/api/agents/${name}/chat`
      const request = new Request(url, post(body, { 'x-test-user': who }))
      const answer = await handler(request)
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    }
    const decided = (approval: object) => (part: Part) => ({
      ...part,
      state: 'approval-responded',
      approval: { id: approvalId, approved: true, ...approval },
    })
    return { amount, approvalId, send, decided }
  }

  const expectRefused = ({
    status,
    headers,
    text,
  }: Awaited<ReturnType<Awaited<ReturnType<typeof waiting>>['send']>>) => {
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    expect(headers.get('x-error-code')).toMatch(/^[a-z_]+$/)
    expect(text).not.toMatch(/[{}]/)
    expect(text).not.toBe('')
  }

  it.each([
    ['of a run that is not there', () => `${crypto.randomUUID()}/approve:pay`],
    ['that its run did not ask for', (id: string) => `${id.split('/')[0]}/approve:other`],
    ['with no run', () => 'approve:pay'],
    ['with nothing', () => ''],
  ])('an approval %s approves nothing', async (_, forge) => {
    const { amount, approvalId, send, decided } = await waiting()
    expectRefused(await send(decided({ id: forge(approvalId) })))
    expect(await paid(amount)).toBe('0')
    expect((await send(decided({}))).text).toContain(`paid ${amount}`)
    expect(await paid(amount)).toBe('1')
  })

  it('an approval of somebody else approves nothing', async () => {
    const { amount, send, decided } = await waiting()
    expectRefused(await send(decided({}), 'bob'))
    expect(await paid(amount)).toBe('0')
    expect((await send(decided({}))).text).toContain(`paid ${amount}`)
  })

  it('an approval at the chat of another agent approves nothing', async () => {
    const { amount, send, decided } = await waiting()
    expectRefused(await send(decided({}), undefined, 'says'))
    expect(await paid(amount)).toBe('0')
  })

  it('an approval that comes twice pays once', async () => {
    const { amount, send, decided } = await waiting()
    const [one, other] = await Promise.all([send(decided({})), send(decided({}))])
    const third = await send(decided({}))
    expect([one, other].filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    for (const each of [one, other, third]) if (each.status !== 200) expectRefused(each)
    expect(await paid(amount)).toBe('1')
  })

  it('an approval after a denial pays nothing', async () => {
    const { amount, send, decided } = await waiting()
    expect((await send(decided({ approved: false }))).text).toContain('not paid')
    const late = await send(decided({ approved: true }))
    if (late.status !== 200) expectRefused(late)
    expect(await paid(amount)).toBe('0')
  })

  it('other arguments than those that were shown are ignored', async () => {
    const { amount, send, decided } = await waiting()
    const answer = await send(part => ({ ...decided({})(part), input: { amount: 1_000_000 } }))
    expect(answer.text).toContain(`paid ${amount}`)
    expect([await paid(amount), await paid(1_000_000)]).toEqual(['1', '0'])
  })

  it('a result that the page claims is no approval', async () => {
    const { amount, send } = await waiting()
    const claimed = await send(part => ({ ...part, state: 'output-available', output: `paid ${amount}` }))
    expectRefused(claimed)
    expect(await paid(amount)).toBe('0')
  })

  it.each(['yes', 1, {}, null])('an approval with %j for a decision is a denial', async approved => {
    const { amount, send, decided } = await waiting()
    const answer = await send(decided({ approved }))
    expect(answer.status).toBeLessThan(500)
    expect(await paid(amount)).toBe('0')
  })
})
