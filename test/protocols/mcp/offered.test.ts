/** What clients reach is what is offered, and arguments come as their schema gives them. */
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Agent, memoryState } from '../../../src/index.ts'
import { mcpTasks } from '../../../src/protocols/mcp/plugin.ts'
import { RunReader } from '../../../src/protocols/mcp/run-reader.ts'
import { serve, TAKES_TASKS } from './calling.ts'

const agent = (name: string, run: ConstructorParameters<typeof Agent>[0]['run']) =>
  new Agent({ name, description: 'For a test', register: false, run })

it('finds no task in a run of what is not offered', async () => {
  const [open, hidden] = [agent('open', () => 'open'), agent('hidden', () => 'hidden')]
  const { handler, ask } = serve(
    { tools: ['open'], tasks: mcpTasks() },
    { serve: [open, hidden], state: memoryState() },
  )
  const find = async (name: string) => {
    const body = JSON.stringify({ input: 'x', background: true })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const answer = await handler(new Request(`http://127.0.0.1/api/agents/${name}/run`, init))
    const { runId: taskId } = await answer.json()
    return ask('tasks/get', { taskId }, { capabilities: TAKES_TASKS })
  }
  expect((await find('open')).result).toMatchObject({ resultType: 'complete' })
  expect((await find('hidden')).error).toMatchObject({ code: -32602, message: 'There is no such task' })
})

it('gives an agent what the schema makes of its arguments', async () => {
  const input = v.object({ name: v.string(), times: v.optional(v.number(), 2) })
  const told = agent('told', given => JSON.stringify(given))
  const { call, log } = serve({ tools: [{ of: 'told', input }] }, { serve: [told] })
  const { result } = await call('told', { name: 'Ann', more: 1 })
  expect(JSON.parse(result.content[0].text)).toEqual([{ type: 'data', data: { name: 'Ann', times: 2 } }])
  expect(log.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('`told` has a schema that is not shown'),
  )
})

it('does not take the log of a run that is gone for its answer', async () => {
  const events = (async function* () {
    yield { type: 'text', text: 'half of ' } as const
  })()
  const started = { id: 'x', events: () => events } as unknown as ConstructorParameters<typeof RunReader>[0]
  const { done } = new RunReader(started, {
    continueRun: async () => undefined,
    maxLength: 1000,
    tracksChanges: false,
  })
  await expect(done).rejects.toMatchObject({ code: 'run_not_found' })
})
