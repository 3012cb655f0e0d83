/** What a page is asked, and what it answers: approvals, questions, and tools of its own. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { type Client, type OpenChat, open, type Part } from './clients.ts'
import { calls, expectAnswer, last, type Server, said, shown } from './page.ts'

/** Waits until a chat has sent itself so often, and the last answer has ended. */
async function sent({ chat, asked }: OpenChat, times: number): Promise<void> {
  await eventually(() => {
    expect(asked).toHaveLength(times)
    expect(['ready', 'error']).toContain(chat.status)
    expect(asked.at(-1)?.text).toMatch(/\[DONE\]\n\n$|^[^:]+$/)
  })
}

const approvalOf = (part: Part | undefined): string =>
  (part?.approval as { id: string } | undefined)?.id ?? ''

export function approvalCases(client: Client, server: Server): void {
  const asking = async (amounts: string, isAutomatic = true) => {
    const opened = open(client, server(), 'agents/pays', { isAutomatic })
    await opened.chat.sendMessage({ text: amounts })
    const answer = expectAnswer(opened)
    return { ...opened, id: answer.id, approvals: calls(last(opened.chat)).map(approvalOf) }
  }

  it('shows what is to be approved', async () => {
    const { chat, approvals } = await asking('5')
    expect(shown(last(chat))).toMatchObject([
      { type: 'text', text: 'I pay. ', state: 'done' },
      { type: 'dynamic-tool', toolName: 'pay', state: 'approval-requested', input: { amount: 5 } },
    ])
    expect(approvals[0]).not.toBe('')
    expect(last(chat)?.metadata).toMatchObject({ finishReason: 'input_required' })
  })

  it('goes on in the same message once it is approved', async () => {
    const { chat, asked, id, approvals } = await asking('5')
    await chat.addToolApprovalResponse?.({ id: approvals[0] ?? '', approved: true })
    await sent({ chat, asked }, 2)
    const answer = expectAnswer({ chat, asked })
    expect(answer.id).toBe(id)
    expect(shown(answer)).toMatchObject([
      { type: 'text', text: 'I pay. ', state: 'done' },
      { type: 'dynamic-tool', state: 'output-available', input: { amount: 5 }, output: 'paid 5' },
      { type: 'text', text: 'paid 5', state: 'done' },
    ])
    expect(shown(answer)).toHaveLength(3)
    expect(answer.metadata).toMatchObject({ finishReason: 'stop' })
  })

  it('tells the run why it is denied', async () => {
    const { chat, asked, id, approvals } = await asking('5')
    await chat.addToolApprovalResponse?.({ id: approvals[0] ?? '', approved: false, reason: 'too much' })
    await sent({ chat, asked }, 2)
    const answer = expectAnswer({ chat, asked })
    expect(answer.id).toBe(id)
    expect(calls(answer)).toMatchObject([{ state: 'output-denied', input: { amount: 5 } }])
    expect(said(answer)).toEqual(['I pay. ', expect.stringMatching(/^not paid: .*too much/)])
  })

  it('waits until all are answered', async () => {
    const { chat, asked, id, approvals } = await asking('5 6')
    expect(approvals).toHaveLength(2)
    await chat.addToolApprovalResponse?.({ id: approvals[0] ?? '', approved: true })
    expect(asked).toHaveLength(1)
    await chat.addToolApprovalResponse?.({ id: approvals[1] ?? '', approved: false })
    await sent({ chat, asked }, 2)
    const answer = expectAnswer({ chat, asked })
    expect(answer.id).toBe(id)
    expect(calls(answer)).toMatchObject([
      { state: 'output-available', output: 'paid 5' },
      { state: 'output-denied', input: { amount: 6 } },
    ])
    expect(said(answer)[1]).toMatch(/^paid 5, not paid/)
  })

  it('goes on with the next message after it', async () => {
    const { chat, asked, approvals } = await asking('5')
    await chat.addToolApprovalResponse?.({ id: approvals[0] ?? '', approved: true })
    await sent({ chat, asked }, 2)
    await chat.sendMessage({ text: '7' })
    expectAnswer({ chat, asked }, 4)
    expect(calls(last(chat))).toMatchObject([{ state: 'approval-requested', input: { amount: 7 } }])
  })
}

export function questionCases(client: Client, server: Server): void {
  it('shows a question, and goes on with its answer', async () => {
    const opened = open(client, server(), 'agents/asks', { isAutomatic: true })
    const { chat, asked } = opened
    await chat.sendMessage({ text: 'x' })
    const { id } = expectAnswer(opened)
    const [question] = calls(last(chat))
    expect(question).toMatchObject({
      type: 'tool-question',
      state: 'input-available',
      input: { message: 'Which size?', schema: { type: 'string' } },
    })
    const answer = { tool: 'question', toolCallId: String(question?.toolCallId), output: 'M' }
    await (chat.addToolOutput ?? chat.addToolResult)(answer)
    await sent(opened, 2)
    const whole = expectAnswer(opened)
    expect([whole.id, asked.length]).toEqual([id, 2])
    expect(shown(whole)).toMatchObject([
      { type: 'text', text: 'A shirt. ' },
      { type: 'tool-question', state: 'output-available', output: 'M' },
      { type: 'text', text: 'It is M.' },
    ])
    expect(shown(whole)).toHaveLength(3)
  })
}

export function clientToolCases(client: Client, server: Server): void {
  it('runs a tool of the page', async () => {
    const clientTools = [{ name: 'pick', description: 'Lets the user pick', parameters: { type: 'object' } }]
    const opened = open(client, server(), 'agents/paints', { isAutomatic: true, body: { clientTools } })
    const { chat, asked } = opened
    await chat.sendMessage({ text: 'x' })
    const { id } = expectAnswer(opened)
    expect(calls(last(chat))).toMatchObject([
      { type: 'tool-pick', toolCallId: 'paint-1', state: 'input-available', input: { of: 'wall' } },
    ])
    await (chat.addToolOutput ?? chat.addToolResult)({ tool: 'pick', toolCallId: 'paint-1', output: 'red' })
    await sent(opened, 2)
    const whole = expectAnswer(opened)
    expect([whole.id, asked.length]).toEqual([id, 2])
    expect(shown(whole)).toMatchObject([
      { type: 'text', text: 'Which color? ' },
      { type: 'tool-pick', state: 'output-available', input: { of: 'wall' }, output: 'red' },
      { type: 'text', text: 'Painted red.' },
    ])
    expect(shown(whole)).toHaveLength(3)
  })

  it('does not call one that the page does not offer', async () => {
    const opened = open(client, server(), 'agents/paints')
    await opened.chat.sendMessage({ text: 'x' })
    expect(said(expectAnswer(opened))).toEqual(['Nobody offers a tool.'])
  })
}
