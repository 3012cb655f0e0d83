/** What a page edits or asks again stays as a branch, in the protocols of pages. */
import { HttpAgent } from '@ag-ui/client'
import { expect, it } from 'vitest'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { Agent, createHandler, memoryState, textOf } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { CLIENTS, inProcess, open } from '../../contracts/ai-sdk-ui/clients.ts'

function serve() {
  const says = new Agent({
    name: 'says',
    register: false,
    async run(_, { memory }) {
      const turns = (await memory?.session()?.turns()) ?? []
      return turns.map(turn => textOf(turn.input)).join(', ')
    },
  })
  const handler = createHandler({
    serve: [says],
    registry: false,
    state: memoryState(),
    logger: false,
    plugins: [sessions(), aiSdkUi(), agUi()],
    middleware: [
      (_, context, next) => {
        context.identity = { id: 'ann' }
        return next()
      },
    ],
  })
  const branchesOf = async (id: string) => {
    const path = `http://127.0.0.1/api/agents/says/sessions/${id}/branches`
    const { branches } = await (await handler(new Request(path))).json()
    return branches.map(({ lastMessage }: { lastMessage: string }) => lastMessage)
  }
  return { handler, branchesOf }
}

it.each(CLIENTS)('of AI SDK $version', async client => {
  const { handler, branchesOf } = serve()
  const { chat } = open(client, inProcess(handler), 'agents/says', { user: 'ann' })
  await chat.sendMessage({ text: 'one' })
  await chat.sendMessage({ text: 'two' })
  await chat.regenerate()
  await chat.sendMessage({ text: 'ONE', messageId: chat.messages[0]?.id ?? '' })
  expect(await branchesOf(chat.id)).toEqual(['ONE', 'one, two', 'one, two'])
})

it('of AG-UI', async () => {
  const { handler, branchesOf } = serve()
  const agent = new HttpAgent({
    url: 'http://127.0.0.1/api/agents/says/ag-ui',
    threadId: 'thread',
    fetch: async (url, init) => handler(new Request(url, init)),
  })
  const say = async (id: string, content: string) => {
    agent.addMessage({ id, role: 'user', content })
    await agent.runAgent()
  }
  await say('m1', 'one')
  await say('m2', 'two')
  agent.setMessages(agent.messages.slice(0, 2))
  await say('m2', 'TWO')
  expect(agent.messages.at(-1)).toMatchObject({ content: 'one, TWO' })
  expect(await branchesOf('thread')).toEqual(['one, TWO', 'one, two'])
})
