/** The same workflows and the same agent, stored by this package. */

import process from 'node:process'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { createHandler, steps, type Tool, textOf, Workflow } from '../../../src/index.ts'
import { createLocalHost } from '../../../src/runs/stored/local-host.ts'
import { postgresState } from '../../../src/runtimes/postgres.ts'
import { scriptedModel, TOOL_NAMES, upper as upperOf } from '../../scripted-model.ts'
import { SETTINGS } from '../../settings.ts'
import { answer, type Shape } from '../stored-workflow.ts'

const url = process.argv[2] ?? ''
const upper = async (text: string) => text.toUpperCase()
const once = steps().step('shout', async input => textOf(input).toUpperCase())
const thrice = once.step('again', upper).step('louder', upper)
const targets = {
  'one step': targetOf(new Workflow({ name: 'shouts', register: false, steps: once })),
  'three steps': targetOf(new Workflow({ name: 'shouts-thrice', register: false, steps: thrice })),
}
const host = createLocalHost({ ...postgresState({ url }), settings: SETTINGS })
await host.list('owner', { limit: 1 })
const never = new AbortController().signal

function targetOf(servable: Workflow) {
  return { kind: 'workflow', name: servable.name, servable } as const
}

async function runWorkflow(input: string, shape: keyof typeof targets): Promise<string> {
  const { id } = await host.start({
    target: targets[shape],
    input,
    options: {},
    owner: 'owner',
    isBackground: true,
  })
  const { result, status } = await host.wait(id, 'owner', never)
  return result?.text ?? status
}

const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const toolOf = (name: string): Tool => ({
  ...{ name, parameters, description: 'Makes a text louder' },
  execute: args => upperOf(args as { text: string }),
})
const agent = new ModelAgent({
  name: 'shouter',
  register: false,
  model: scriptedModel,
  instructions: 'Shout.',
  tools: TOOL_NAMES.map(toolOf),
  resume: true,
})
const handler = createHandler({
  serve: [agent],
  registry: false,
  logger: false,
  state: postgresState({ url, schema: 'agents' }),
  runs: { maxRunningPerOwner: 1000 },
})

/** Over HTTP, in one process: whole, as the answer comes once the end is stored. */
async function runAgent(input: string, isInSession: boolean): Promise<string> {
  const sessionId = isInSession ? crypto.randomUUID() : undefined
  const body = JSON.stringify({ input, background: true, sessionId })
  const headers = { 'content-type': 'application/json' }
  const response = await handler(
    new Request('http://127.0.0.1/api/agents/shouter/run', { method: 'POST', headers, body }),
  )
  const { text } = (await response.json()) as { text?: string }
  return text ?? String(response.status)
}

answer((input, shape: Shape) =>
  shape === 'agent' || shape === 'agent in a session'
    ? runAgent(input, shape !== 'agent')
    : runWorkflow(input, shape),
)
