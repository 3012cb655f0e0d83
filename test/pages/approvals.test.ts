/** What the pages about approvals and the inbox show does what it says. */
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer, InputRequest } from '../../src/client/index.ts'
import type { Handler, RunResult } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { root } from '../runtimes/process.ts'
import { commandsIn, fencesOf, load, snippetOf, snippetsIn, writeSnippets } from './pages.ts'

const run = promisify(execFile)
const shown = fencesOf(['approvals.md', 'inbox.md'])
const snippets = snippetsIn(shown)
const commands = commandsIn(shown)
const ofClient = snippetOf('client-answers.ts')
const DEV = 'http://127.0.0.1:8787'

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippets)
  await writeFile(join(folder, '.curlrc'), 'silent\nfail-with-body\n')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs, and answers what is asked; gives the results, one after the other. */
async function play(
  name: string,
  servable: string,
  ...rounds: readonly ((requests: readonly InputRequest[]) => readonly Answer[])[]
): Promise<RunResult[]> {
  const { handler } = await load<{ handler: Handler }>(folder, name)
  const post = async (path: string, body: object): Promise<RunResult> => {
    const response = await handler(new Request(`http://127.0.0.1/api/${path}`, jsonRequest(body)))
    return response.json() as Promise<RunResult>
  }
  const results = [await post(`${servable}/run`, { input: 'A shirt' })]
  for (const answers of rounds) {
    const { requests = [], ...last } = results.at(-1)!
    const id = 'id' in last ? last.id : last.runId
    results.push(await post(`runs/${id}/answers`, { answers: answers(requests) }))
  }
  return results
}

const value = (given: unknown) => (requests: readonly InputRequest[]) =>
  requests.map(({ id }): Answer => ({ id, value: given }))
const decide = (decided: object) => (requests: readonly InputRequest[]) =>
  requests.map(({ id }) => ({ id, ...decided }) as Answer)

describe('the page about approvals', () => {
  it('shows an agent that asks, and commands that ask and answer', async () => {
    const { handler } = await load<{ handler: Handler }>(folder, 'approvals-first.ts')
    const server = await serve(handler, { port: 0 })
    try {
      const [ask = '', answer = '', ...others] = commands
      expect(others).toEqual([])
      const play = async (command: string, RUN_ID = '') => {
        const env = { ...process.env, CURL_HOME: folder, RUN_ID }
        const options = { cwd: root, env }
        const { stdout } = await run('sh', ['-c', command.replaceAll(DEV, server.url)], options)
        return JSON.parse(stdout) as RunResult
      }
      const first = await play(ask)
      expect(first).toMatchObject({
        text: 'Let me see. ',
        finishReason: 'input_required',
        requests: [{ id: `${first.runId}/size`, kind: 'question', message: 'Which size?' }],
      })
      expect((await play(answer, first.runId)).text).toBe('A shirt in M')
    } finally {
      await server.close()
    }
  })

  it('shows a tool that needs approval, whose arguments may be edited', async () => {
    const name = 'approvals-tool.ts'
    const [asked, done] = await play(name, 'agents/refunds', decide({ decision: 'approve' }))
    expect(asked?.requests).toMatchObject([{ kind: 'approval', toolName: 'refund', editable: true }])
    expect(done?.text).toBe('Refunded 50 for A shirt.')
    const editedArgs = { order: 'A shirt', amount: 5 }
    const edited = await play(name, 'agents/refunds', decide({ decision: 'approve', editedArgs }))
    expect(edited[1]?.text).toBe('Refunded 5 for A shirt.')
    const denied = await play(name, 'agents/refunds', decide({ decision: 'deny', reason: 'too much' }))
    expect(denied[1]?.text).toBe('No refund. The call was denied: too much')
  })

  it('shows several at once', async () => {
    const [asked, left, done] = await play(
      'approvals-several.ts',
      'agents/shop',
      requests => value('M')(requests.slice(0, 1)),
      decide({ decision: 'approve' }),
    )
    expect(asked?.requests).toMatchObject([{ kind: 'question' }, { kind: 'approval' }])
    expect(left).toMatchObject({ status: 'input_required', requests: asked?.requests?.slice(1) })
    expect(done?.text).toBe('M, paid')
  })

  it('shows a workflow that does each step once', async () => {
    const [asked, done] = await play('approvals-workflow.ts', 'workflows/order', value('M'))
    expect(asked).toMatchObject({ finishReason: 'input_required' })
    expect(done?.text).toBe('A shirt in M, charged for A shirt (charge)')
  })

  it('shows an approver, and a client that decides', async () => {
    const { handler } = await load<{ handler: Handler }>(folder, 'approvals-authorize.ts')
    const server = await serve(handler, { port: 0 })
    const deciding = snippets.get('approvals-client.ts')!.replaceAll(DEV, server.url)
    const own = await writeSnippets(new Map([['approvals-client.ts', deciding]]))
    const as = (user: string, path: string, body: object) =>
      fetch(`${server.url}/api/${path}`, jsonRequest(body, { 'x-user': user }))
    try {
      const first = await as('ann', 'agents/cashier/run', { input: 'x' })
      const { runId, requests = [] } = (await first.json()) as RunResult
      const answers = [{ id: requests[0]?.id, decision: 'approve' }]
      for (const [user, status] of [['ann', 403] as const, ['carol', 404] as const]) {
        expect((await as(user, `runs/${runId}/answers`, { answers })).status).toBe(status)
      }
      const { decideAll } = await load<{ decideAll(decision: 'approve'): Promise<number> }>(
        own,
        'approvals-client.ts',
      )
      expect(await decideAll('approve')).toBe(1)
      expect(await decideAll('approve')).toBe(0)
    } finally {
      await server.close()
      await rm(own, { recursive: true, force: true })
    }
  })

  it('is shown the same with the client', async () => {
    const { handler } = await load<{ handler: Handler }>(folder, 'approvals-first.ts')
    const server = await serve(handler, { port: 0 })
    const own = await writeSnippets(new Map([['client-answers.ts', ofClient.replaceAll(DEV, server.url)]]))
    try {
      const { runWith } = await load<{
        runWith(answer: (request: InputRequest) => Answer, name: string, input: string): Promise<string>
      }>(own, 'client-answers.ts')
      expect(await runWith(({ id }) => ({ id, value: 'L' }), 'tailor', 'A coat')).toBe('A coat in L')
    } finally {
      await server.close()
      await rm(own, { recursive: true, force: true })
    }
  })
})
