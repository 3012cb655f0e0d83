/** What a page sees of each kind of answer. */
import { expect, it } from 'vitest'
import { DOT } from './agents.ts'
import { type Client, open } from './clients.ts'
import { answered, calls, expectAnswer, last, type Server, said, shown } from './page.ts'

export function answeringCases(client: Client, server: Server): void {
  const answerOf = async (path: string, text?: string) =>
    expectAnswer(await answered(client, server, path, text))

  it('shows text', async () => {
    const { parts, metadata, id } = await answerOf('agents/says', 'Ann')
    expect(shown({ id, role: 'assistant', parts })).toMatchObject([
      { type: 'text', text: 'Hello, Ann!', state: 'done' },
    ])
    expect(metadata).toMatchObject({ runId: id, finishReason: 'stop' })
  })

  it('shows the default agent', async () => {
    expect(said(await answerOf('', 'Ann'))).toEqual(['Hello, Ann!'])
  })

  it('shows thinking before text', async () => {
    expect(shown(await answerOf('agents/thinks'))).toMatchObject([
      { type: 'reasoning', text: 'Let me see.', state: 'done' },
      { type: 'text', text: 'Here it is.', state: 'done' },
    ])
  })

  it('shows calls of tools with their results, between the texts', async () => {
    expect(shown(await answerOf('agents/looks'))).toMatchObject([
      { type: 'text', text: 'I look. ', state: 'done' },
      {
        type: 'dynamic-tool',
        toolName: 'weather',
        toolCallId: 'call-1',
        state: 'output-available',
        input: { place: 'Rome' },
        output: { degrees: 21 },
      },
      {
        type: 'dynamic-tool',
        toolName: 'weather',
        toolCallId: 'call-2',
        state: 'output-error',
        input: { place: 'Mars' },
        errorText: 'Too far',
      },
      { type: 'text', text: '21 degrees.', state: 'done' },
    ])
  })

  it('does not send itself when the tools of the server are done', async () => {
    const opened = open(client, server(), 'agents/looks', { isAutomatic: true })
    await opened.chat.sendMessage({ text: 'x' })
    expectAnswer(opened)
    await opened.chat.sendMessage({ text: 'y' })
    expectAnswer(opened, 4)
    expect(opened.asked).toHaveLength(2)
  })

  it('shows members who speak at once: each text and each call once', async () => {
    const answer = await answerOf('teams/crew')
    const words = said(answer).join(' ').split(/\s+/)
    expect(words.filter(word => word.startsWith('l'))).toEqual(['l1', 'l2'])
    expect(words.filter(word => word.startsWith('r'))).toEqual(['r1', 'r2'])
    expect(said(answer).join('|')).toContain('Both are done.')
    const byId = calls(answer).toSorted((one, other) =>
      String(one.toolCallId) < String(other.toolCallId) ? -1 : 1,
    )
    expect(byId).toHaveLength(2)
    expect(byId).toMatchObject([
      { toolCallId: 'left-1', state: 'output-available', input: { to: 1 }, output: 1 },
      { toolCallId: 'right-1', state: 'output-available', input: { to: 2 }, output: 2 },
    ])
    expect(stepsIn(answer)).toEqual([
      ['left', 'completed'],
      ['right', 'completed'],
    ])
  })

  it('shows the steps of a workflow, each as one part', async () => {
    const answer = await answerOf('workflows/counts', 'one two three')
    expect(stepsIn(answer)).toEqual([
      ['split', 'completed'],
      ['count', 'completed'],
    ])
    expect(said(answer).join('')).toBe('3 words')
  })

  it('shows files and data', async () => {
    const answer = await answerOf('agents/draws')
    const [text, ...rest] = shown(answer)
    expect(text).toMatchObject({ type: 'text', text: 'Drawn: ', state: 'done' })
    const artifacts = rest.filter(({ type }) => type === 'data-artifact').map(({ data }) => data)
    expect(artifacts).toContainEqual(
      expect.objectContaining({ artifactId: 'notes', parts: [{ type: 'text', text: 'one, two' }] }),
    )
    expect(artifacts).toContainEqual(
      expect.objectContaining({
        artifactId: 'numbers',
        parts: [{ type: 'data', data: { numbers: [1, 2] } }],
      }),
    )
    expect(rest.filter(({ type }) => type === 'file')).toMatchObject([
      { mediaType: 'image/png', url: `data:image/png;base64,${DOT}` },
    ])
    expect(rest).toHaveLength(3)
  })

  it('shows structured output, and what it cost', async () => {
    const answer = await answerOf('agents/weighs')
    expect(shown(answer)).toMatchObject([
      { type: 'text', text: 'Weighed.' },
      { type: 'data-structured', data: { grams: 12 } },
    ])
    expect(answer.metadata).toMatchObject({
      runId: answer.id,
      finishReason: 'stop',
      usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7, cost: 0.25 },
    })
  })

  it('tells of an error before the answer as its text', async () => {
    const { chat } = await answered(client, server, 'agents/nobody')
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toMatch(/nobody/)
    expect(chat.error?.message).not.toMatch(/[{}]/)
    expect(chat.messages).toHaveLength(1)
  })

  it('tells of an error of a run, and none of its secrets', async () => {
    const { chat, asked } = await answered(client, server, 'agents/refuses')
    expect([chat.status, chat.error?.message]).toEqual(['error', 'Internal server error'])
    expect(asked.at(-1)?.text).not.toContain('secret')
  })

  it('keeps what was said before an error', async () => {
    const { chat, asked } = await answered(client, server, 'agents/breaks')
    expect([chat.status, chat.error?.message]).toEqual(['error', 'Internal server error'])
    expect(said(last(chat))).toEqual(['Half of '])
    expect(asked.at(-1)?.text).not.toMatch(/secret|"type":"finish"/)
  })

  it('answers two chats at once', async () => {
    const ask = (text: string) => answered(client, server, 'agents/says', text)
    const both = await Promise.all([ask('Ann'), ask('Bob')])
    expect(both.map(opened => said(expectAnswer(opened)))).toEqual([['Hello, Ann!'], ['Hello, Bob!']])
  })

  it('goes on after an answer', async () => {
    const opened = await answered(client, server, 'agents/says', 'Ann')
    await opened.chat.sendMessage({ text: 'Bob' })
    expect(said(expectAnswer(opened, 4))).toEqual(['Hello, Bob!'])
  })
}

/** The steps of a message, and how they ended. */
function stepsIn(answer: Parameters<typeof shown>[0]): unknown[] {
  const steps = shown(answer).filter(({ type }) => type === 'data-step')
  return steps.map(({ data }) => {
    const { name, status } = data as { name: string; status: string }
    return [name, status]
  })
}
