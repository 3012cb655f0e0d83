// The handler of servers that are killed: a workflow that is stored in the file DATABASE. Its effects are lines of the file EFFECTS,
// or requests where that is an address.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { createHandler, type Handler } from '../../../src/index.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { type Effect, orderOf } from './kills-workflow.ts'
import { stateAt } from './state.ts'

const { DATABASE = '', EFFECTS = '', GENERATION, VERSION, CHANGE } = process.env

function write(effect: Effect): unknown {
  const body = JSON.stringify(effect)
  if (EFFECTS.startsWith('http:')) return fetch(EFFECTS, { method: 'POST', body })
  const file = openSync(EFFECTS, 'a')
  writeSync(file, `${body}\n`)
  fsyncSync(file)
  return closeSync(file)
}

export const handler: Handler = createHandler({
  workflows: { order: orderOf(write, { GENERATION, VERSION, CHANGE }) },
  state: await stateAt(DATABASE),
  a2a: true,
  logger: false,
})

/** Prints the server's address and the process id. */
export function tell({ url }: RunningServer): void {
  console.log(`pid ${process.pid}, listening ${url}`)
}
