/** Pages with the oldest `@ag-ui/client` for which `servable/ag-ui-client` is: what a page that attaches has is what the first page has. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Agent, createHandler, memoryState, textOf, tool } from '../../src/index.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import type { ServableAgent, ServableAgentConfig } from '../../src/protocols/ag-ui-client/index.ts'
import { handlerOn } from '../contracts/ag-ui/service.ts'
import { identify } from '../contracts/identify.ts'
import { own } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'

const OWN = 'test/frameworks/ag-ui-clients'

let installed: Installed
let Page: new (config: ServableAgentConfig) => ServableAgent
beforeAll(async () => {
  installed = await install('ag-ui-clients', [])
  const { folder } = installed
  const outfile = join(folder, 'client.mjs')
  // The sources are a link. Those in the folder find the folder's packages.
  const { metafile } = await build({
    entryPoints: [join(folder, OWN, 'client.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    preserveSymlinks: true,
    metafile: true,
    logLevel: 'error',
  })
  const used = Object.keys(metafile.inputs).filter(path => path.includes('/@ag-ui/client/'))
  expect(used.length).toBeGreaterThan(0)
  expect(used.filter(path => !path.includes('ag-ui-clients-'))).toEqual([])
  ;({ ServableAgent: Page } = await import(pathToFileURL(outfile).href))
})
afterAll(() => installed?.remove())

type Serve = (request: Request) => Response | Promise<Response>

/** A page with a thread of an agent. */
function pageOf(handler: Serve, path: string, threadId: string): ServableAgent {
  return new Page({
    url: `http://service.test/api/${path}/ag-ui`,
    threadId,
    headers: { 'x-test-user': 'ann' },
    fetch: async (url: string, init: RequestInit) => handler(new Request(url, init)),
  } as ServableAgentConfig)
}

function say(page: ServableAgent, content: string): ServableAgent {
  page.addMessage({ id: own('message'), role: 'user', content })
  return page
}

/** What a page has. */
const shown = ({ messages, state }: ServableAgent) => ({ messages, state })

const usual = handlerOn(memoryState(), undefined, { logger: false })

it('is the version of the folder', async () => {
  const file = join(installed.folder, 'node_modules/@ag-ui/client/package.json')
  expect(JSON.parse(await readFile(file, 'utf8')).version).toBe('0.0.59')
})

it.each(['agents/talks', 'agents/recalls', 'agents/fails', 'teams/pair', 'workflows/flow'])(
  'has what the first page has of %s',
  async path => {
    const threadId = own('thread')
    const first = say(pageOf(usual, path, threadId), 'hello')
    await first.runAgent().catch(() => {})
    expect(first.messages.length).toBeGreaterThan(1)
    const second = pageOf(usual, path, threadId)
    await second.connectAgent().catch(() => {})
    expect(shown(second)).toEqual(shown(first))
    // The same page again has nothing twice.
    await second.connectAgent().catch(() => {})
    expect(shown(second)).toEqual(shown(first))
  },
)

it('has all of an answer in the middle of it, and the rest as it comes', async () => {
  const waiting: (() => void)[] = []
  const add = tool({ name: 'add', execute: () => 3 })
  const sums = new Agent({
    name: 'sums',
    register: false,
    async *run(input, { callTool }) {
      yield { type: 'thinking', text: 'Let me see.' }
      yield `${textOf(input)}: `
      yield `${yield* callTool(add, { a: 1, b: 2 })} `
      yield 'it '
      await new Promise<void>(resolve => void waiting.push(resolve))
      yield 'is.'
    },
  })
  const handler = createHandler({
    serve: [sums],
    registry: false,
    state: memoryState(),
    middleware: [identify],
    runs: { disconnect: 'continue' },
    plugins: [agUi()],
    logger: false,
  })
  const first = say(pageOf(handler, 'agents/sums', 'thread'), 'sum')
  const running = first.runAgent()
  await eventually(() => expect(JSON.stringify(first.messages)).toContain('it '))
  const second = pageOf(handler, 'agents/sums', 'thread')
  const attached = second.connectAgent()
  await eventually(() => expect(shown(second)).toEqual(shown(first)))
  expect(waiting).toHaveLength(1)
  waiting[0]?.()
  await Promise.all([running, attached])
  expect(JSON.stringify(first.messages)).toContain('it is.')
  expect(shown(second)).toEqual(shown(first))
})

it('has what waits for the user, and the answer after it', async () => {
  const threadId = own('thread')
  const first = say(pageOf(usual, 'agents/pays', threadId), '5')
  await first.runAgent()
  const second = pageOf(usual, 'agents/pays', threadId)
  await second.connectAgent()
  expect(shown(second)).toEqual(shown(first))
  expect(second.pendingInterrupts).toEqual(first.pendingInterrupts)
  const [{ id: interruptId = '' } = {}] = second.pendingInterrupts
  await second.runAgent({ resume: [{ interruptId, status: 'resolved', payload: true }] })
  const third = pageOf(usual, 'agents/pays', threadId)
  await third.connectAgent()
  expect(JSON.stringify(third.messages)).toContain('I have paid 5.')
  expect(shown(third)).toEqual(shown(second))
})
