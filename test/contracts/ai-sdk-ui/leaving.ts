/** What happens to a run when its page leaves, stops, and comes back. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { type ChatOptions, type Client, type OpenChat, open, type Served } from './clients.ts'
import {
  calls,
  expectAnswer,
  fateOf,
  last,
  openGate,
  type Server,
  said,
  shown,
  withoutComments,
} from './page.ts'

/** Sends a text, and waits until the answer has begun to show. */
export async function begun(
  { chat }: OpenChat,
  text: string,
  has: () => boolean,
): Promise<{ end: Promise<void> }> {
  const end = chat.sendMessage({ text })
  await eventually(() => expect(has()).toBe(true))
  return { end }
}

function expectNothing({ comesToRest }: Client, { chat }: OpenChat): void {
  expect([chat.status, chat.error]).toEqual([comesToRest ? 'ready' : 'submitted', undefined])
}

/** With `resume: false`. */
export function leavingCases(client: Client, server: Server): void {
  it('stops the run where the page stops', async () => {
    const name = crypto.randomUUID()
    const opened = open(client, server(), 'agents/waits')
    const { end } = await begun(opened, name, () => said(last(opened.chat))[0] === 'I wait. ')
    expect(await fateOf(server(), name)).toBe('started')
    await opened.chat.stop()
    await end
    expect([opened.chat.status, opened.chat.error]).toEqual(['ready', undefined])
    await eventually(async () => expect(await fateOf(server(), name)).toBe('stopped'))
  })

  it('stops the run that goes on with an answer where the page stops', async () => {
    const gate = `sized ${crypto.randomUUID()}`
    const { chat } = open(client, server(), 'agents/ships', { isAutomatic: true })
    await chat.sendMessage({ text: gate })
    const toolCallId = String(calls(last(chat))[0]?.toolCallId)
    await (chat.addToolOutput ?? chat.addToolResult)({ tool: 'question', toolCallId, output: 'M' })
    await eventually(() => expect(said(last(chat))).toEqual(['I ship. ', 'M: ']))
    expect(await fateOf(server(), gate)).toBe('started')
    await chat.stop()
    await eventually(async () => expect(await fateOf(server(), gate)).toBe('stopped'))
  })

  it('has nothing to resume', async () => {
    const opened = open(client, server(), 'agents/waits')
    await opened.chat.resumeStream()
    expectNothing(client, opened)
    expect(opened.asked.map(({ status }) => status)).toEqual([204])
  })
}

/** Stops the run of a chat, as `stopChat` of `servable/ai-sdk-ui/page` does. */
export function stopIn(
  { url, fetch: send = fetch }: Served,
  path: string,
  id: string,
  headers = {},
): Promise<Response> {
  return send(`${url}/api/${path}/chat/${encodeURIComponent(id)}/stop`, { method: 'POST', headers })
}

/** The parts of the whole answer of the agent that waits at a gate. */
const WHOLE = [
  { type: 'text', text: 'First ', state: 'done' },
  { type: 'reasoning', text: 'Hm.', state: 'done' },
  { type: 'dynamic-tool', toolCallId: 'call-1', state: 'output-available', output: 'sunny' },
  { type: 'text', text: 'and last.', state: 'done' },
]

/** With `resume: true`. */
export function resumingCases(client: Client, server: Server): void {
  const openGated = (options: ChatOptions = {}) => open(client, server(), 'agents/gated', options)
  const isHalf = ({ chat }: OpenChat) => calls(last(chat))[0]?.state === 'input-available'

  /** A chat whose page is left in the middle of an answer. */
  const left = async (user?: string) => {
    const gate = crypto.randomUUID()
    const opened = openGated({ user })
    const { end } = await begun(opened, gate, () => isHalf(opened))
    await opened.chat.stop()
    await end
    return { gate, ...opened, id: opened.chat.id }
  }

  it.each([undefined, 'ann'])('shows the whole answer to a page that comes back (%s)', async name => {
    const user = name && `${name}-${crypto.randomUUID()}`
    const { gate, chat, id } = await left(user)
    const again = openGated({ id, user, messages: chat.messages.slice(0, 1) })
    const end = again.chat.resumeStream()
    await eventually(() => expect(isHalf(again)).toBe(true))
    await openGate(server(), gate)
    await end
    expect(shown(expectAnswer(again))).toMatchObject(WHOLE)
    expect(shown(last(again.chat))).toHaveLength(WHOLE.length)
  })

  if (client.replaces)
    it('replaces the half answer that a page has kept', async () => {
      const { gate, chat, id } = await left()
      const again = openGated({ id, messages: chat.messages })
      const end = again.chat.resumeStream()
      // The page has half of it already, so only the answer says that the run is followed.
      await eventually(() => expect(again.asked[0]?.status).toBe(200))
      await openGate(server(), gate)
      await end
      expect(shown(expectAnswer(again))).toMatchObject(WHOLE)
      expect(shown(last(again.chat))).toHaveLength(WHOLE.length)
    })

  it('sends a page that comes back what the first one got, byte by byte', async () => {
    const gate = crypto.randomUUID()
    const first = openGated()
    const { end } = await begun(first, gate, () => isHalf(first))
    const second = openGated({ id: first.chat.id, messages: first.chat.messages.slice(0, 1) })
    const also = second.chat.resumeStream()
    await eventually(() => expect(isHalf(second)).toBe(true))
    await openGate(server(), gate)
    await Promise.all([end, also])
    expect(shown(expectAnswer(first))).toMatchObject(WHOLE)
    expect(withoutComments(second.asked[0]?.text ?? '')).toBe(withoutComments(first.asked[0]?.text ?? ''))
    expect(expectAnswer(second)).toEqual(expectAnswer(first))
  })

  /** A chat whose page is left in the middle of what comes after an answer to it. */
  const leftAfter = async (kind: 'paid' | 'sized' | 'picked') => {
    const gate = `${kind} ${crypto.randomUUID()}`
    const opened = open(client, server(), kind === 'picked' ? 'agents/paints' : 'agents/ships', {
      isAutomatic: true,
      body: { clientTools: [{ name: 'pick' }] },
    })
    const { chat } = opened
    await chat.sendMessage({ text: gate })
    const [call] = calls(last(chat))
    const toolCallId = String(call?.toolCallId)
    if (kind === 'picked') {
      await (chat.addToolOutput ?? chat.addToolResult)({ tool: 'pick', toolCallId, output: 'red' })
    } else if (kind === 'paid') {
      await chat.addToolApprovalResponse?.({ id: String(Object(call?.approval).id), approved: true })
    } else {
      await (chat.addToolOutput ?? chat.addToolResult)({ tool: 'question', toolCallId, output: 'M' })
    }
    await eventually(() => expect(said(last(chat))).toHaveLength(2))
    await chat.stop()
    await eventually(() => expect(chat.status).toBe('ready'))
    return { gate, ...opened, id: chat.id }
  }

  it('shows a page that comes back all of an answer that has waited for a person', async () => {
    const { gate, chat, id } = await leftAfter('sized')
    const again = open(client, server(), 'agents/ships', {
      id,
      messages: chat.messages.slice(0, 1),
      isAutomatic: true,
    })
    const end = again.chat.resumeStream()
    await eventually(() => expect(said(last(again.chat))).toHaveLength(2))
    await openGate(server(), gate)
    await end
    const answer = expectAnswer(again)
    expect(answer.id).toBe(last(chat)?.id)
    expect(shown(answer)).toMatchObject([
      { type: 'text', text: 'I ship. ' },
      { type: 'text', text: 'M: done.' },
    ])
    // Its answer is not told again, so it is not asked again either.
    expect(calls(answer)).toEqual([])
    expect(again.asked).toHaveLength(1)
  })

  it('shows it the results of its own tools', async () => {
    const { gate, chat, id } = await leftAfter('picked')
    const again = open(client, server(), 'agents/paints', { id, messages: chat.messages.slice(0, 1) })
    const end = again.chat.resumeStream()
    await eventually(() => expect(again.asked[0]?.status).toBe(200))
    await openGate(server(), gate)
    await end
    expect(shown(expectAnswer(again))).toMatchObject([
      { type: 'text', text: 'Which color? ' },
      { type: 'tool-pick', state: 'output-available', input: { of: 'wall' }, output: 'red' },
      { type: 'text', text: 'Painted red.' },
    ])
  })

  if (client.approves)
    it('shows it all of an answer that has waited for an approval', async () => {
      const { gate, chat, id } = await leftAfter('paid')
      const again = open(client, server(), 'agents/ships', {
        id,
        messages: chat.messages.slice(0, 1),
        isAutomatic: true,
      })
      const end = again.chat.resumeStream()
      await eventually(() => expect(again.asked[0]?.status).toBe(200))
      await openGate(server(), gate)
      await end
      expect(shown(expectAnswer(again))).toMatchObject([
        { type: 'text', text: 'I ship. ' },
        { type: 'dynamic-tool', state: 'output-available', input: { amount: 5 }, output: 'paid 5' },
        { type: 'text', text: 'paid 5: done.' },
      ])
      expect(again.asked).toHaveLength(1)
    })

  it('stops the run where the page says so', async () => {
    const name = crypto.randomUUID()
    const opened = open(client, server(), 'agents/waits')
    const { end } = await begun(opened, name, () => said(last(opened.chat))[0] === 'I wait. ')
    expect((await stopIn(server(), 'agents/waits', opened.chat.id)).status).toBe(204)
    await end
    await eventually(async () => expect(await fateOf(server(), name)).toBe('stopped'))
    expect(said(last(opened.chat))).toEqual(['I wait. '])
    expect([opened.chat.status, opened.chat.error]).toEqual(['ready', undefined])
  })

  if (client.encodesIds)
    it('resumes and stops a chat whatever its id is', async () => {
      const name = crypto.randomUUID()
      const opened = open(client, server(), 'agents/waits', { id: `a/b ü?#%25&${name}` })
      const { end } = await begun(opened, name, () => said(last(opened.chat))[0] === 'I wait. ')
      const again = open(client, server(), 'agents/waits', {
        id: opened.chat.id,
        messages: opened.chat.messages.slice(0, 1),
      })
      const also = again.chat.resumeStream()
      await eventually(() => expect(said(last(again.chat))).toEqual(['I wait. ']))
      await stopIn(server(), 'agents/waits', opened.chat.id)
      await Promise.all([end, also])
      await eventually(async () => expect(await fateOf(server(), name)).toBe('stopped'))
    })

  it('does not stop it for a page that leaves', async () => {
    const name = crypto.randomUUID()
    const opened = open(client, server(), 'agents/waits')
    const { end } = await begun(opened, name, () => said(last(opened.chat))[0] === 'I wait. ')
    await opened.chat.stop()
    await end
    expect(await fateOf(server(), name)).toBe('started')
    await stopIn(server(), 'agents/waits', opened.chat.id)
    await eventually(async () => expect(await fateOf(server(), name)).toBe('stopped'))
  })

  it('has nothing to resume where nothing runs, or for somebody else', async () => {
    const ann = `ann-${crypto.randomUUID()}`
    const { gate, chat, id } = await left(ann)
    const resumed = async (options: ChatOptions) => {
      const opened = openGated({ messages: chat.messages.slice(0, 1), ...options })
      await opened.chat.resumeStream()
      expectNothing(client, opened)
      expect(opened.chat.messages).toHaveLength(1)
      return opened.asked[0]?.status
    }
    expect(await resumed({ id, user: `bob-${crypto.randomUUID()}` })).toBe(204)
    expect(await resumed({ id })).toBe(204)
    expect(await resumed({ id: crypto.randomUUID(), user: ann })).toBe(204)
    await openGate(server(), gate)
    await eventually(async () => expect(await resumed({ id, user: ann }).catch(() => 0)).toBe(204))
  })

  it('stops nothing of somebody else', async () => {
    const name = crypto.randomUUID()
    const user = `ann-${crypto.randomUUID()}`
    const opened = open(client, server(), 'agents/waits', { user })
    const { end } = await begun(opened, name, () => said(last(opened.chat))[0] === 'I wait. ')
    const stop = (who: string) => stopIn(server(), 'agents/waits', opened.chat.id, { 'x-test-user': who })
    await stop('bob')
    expect(await fateOf(server(), name)).toBe('started')
    await stop(user)
    await end
    await eventually(async () => expect(await fateOf(server(), name)).toBe('stopped'))
  })
}
