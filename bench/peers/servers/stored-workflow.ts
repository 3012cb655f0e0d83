/** The same workflow, stored by this package. */

import process from 'node:process'
import { steps, textOf, Workflow } from '../../../src/index.ts'
import { createLocalHost } from '../../../src/runs/stored/local-host.ts'
import { postgresState } from '../../../src/runtimes/postgres.ts'
import { SETTINGS } from '../../settings.ts'
import { answer } from '../stored-workflow.ts'

const upper = async (text: string) => text.toUpperCase()
const once = steps().step('shout', async input => textOf(input).toUpperCase())
const thrice = once.step('again', upper).step('louder', upper)
const targets = {
  1: targetOf(new Workflow({ name: 'shouts', register: false, steps: once })),
  3: targetOf(new Workflow({ name: 'shouts-thrice', register: false, steps: thrice })),
}
const host = createLocalHost({ ...postgresState({ url: process.argv[2] ?? '' }), settings: SETTINGS })
await host.list('owner', { limit: 1 })
const never = new AbortController().signal

function targetOf(servable: Workflow) {
  return { kind: 'workflow', name: servable.name, servable } as const
}

answer(async (input, count) => {
  const { id } = await host.start({
    target: targets[count],
    input,
    options: {},
    owner: 'owner',
    isBackground: true,
  })
  const { result, status } = await host.wait(id, 'owner', never)
  return result?.text ?? status
})
