/** What the page about AG-UI shows does what it says. */
import { rm } from 'node:fs/promises'
import { HttpAgent } from '@ag-ui/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Agent, createHandler, type Handler, tool } from '../../src/index.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import { serve } from '../../src/runtimes/node.ts'
import { fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const snippets = snippetsIn(fencesOf(['ag-ui.md']))
const PAGE = 'http://127.0.0.1:3000'

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippets)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function serving(handler: Handler, use: (url: string) => Promise<void>): Promise<void> {
  const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
  try {
    await use(server.url)
  } finally {
    await server.close()
  }
}

describe('the page about AG-UI', () => {
  it('shows a server and a page that work', async () => {
    const { handler } = await load<{ handler: Handler }>(folder, 'ag-ui-server.ts')
    await serving(handler, async url => {
      const own = await writeSnippets(snippets, text => text.replaceAll(PAGE, url))
      type Page = { say(text: string, show: (answer: string) => void): Promise<void> }
      const { say } = await load<Page>(own, 'ag-ui-page.ts')
      const shown: string[] = []
      await say('hi', answer => void shown.push(answer))
      expect(shown.at(-1)).toBe('You said: hi')
      await rm(own, { recursive: true, force: true })
    })
  })

  it('shows a state that the client has', async () => {
    const { handler } = await load<{ handler: Handler }>(folder, 'ag-ui-state.ts')
    await serving(handler, async url => {
      const agent = new HttpAgent({ url: `${url}/api/agents/cook/ag-ui`, initialState: { servings: 4 } })
      agent.addMessage({ id: '1', role: 'user', content: 'Soup' })
      await agent.runAgent()
      expect(agent.state).toEqual({ servings: 4, steps: ['Boil water'] })
    })
  })

  it('shows how a page approves', async () => {
    const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })
    const payer = new Agent({
      name: 'payer',
      register: false,
      async *run(_, { callTool }) {
        yield String(yield* callTool(pay, {}))
      },
    })
    type Page = { approve(agent: HttpAgent, approved: boolean): Promise<void> }
    const { approve } = await load<Page>(folder, 'ag-ui-approval.ts')
    await serving(createHandler({ serve: [payer], registry: false, plugins: [agUi()] }), async url => {
      const agent = new HttpAgent({ url: `${url}/api/agents/payer/ag-ui` })
      agent.addMessage({ id: '1', role: 'user', content: 'Pay' })
      await agent.runAgent()
      await approve(agent, true)
      expect(agent.messages.at(-1)?.content).toBe('paid')
    })
  })
})
