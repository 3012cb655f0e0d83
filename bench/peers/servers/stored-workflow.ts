/** The same workflow, stored by this package. */

import process from 'node:process'
import { steps, textOf, Workflow } from '../../../src/index.ts'
import { createLocalHost } from '../../../src/runs/stored/local-host.ts'
import { postgresState } from '../../../src/runtimes/postgres.ts'
import { SETTINGS } from '../../settings.ts'
import { answer } from '../stored-workflow.ts'

const servable = new Workflow({
  name: 'shouts',
  register: false,
  steps: steps().step('shout', async input => textOf(input).toUpperCase()),
})
const target = { kind: 'workflow', name: 'shouts', servable } as const
const host = createLocalHost({ ...postgresState({ url: process.argv[2] ?? '' }), settings: SETTINGS })
await host.list('owner', { limit: 1 })
const never = new AbortController().signal

answer(async input => {
  const { id } = await host.start({ target, input, options: {}, owner: 'owner', isBackground: true })
  const { result, status } = await host.wait(id, 'owner', never)
  return result?.text ?? status
})
