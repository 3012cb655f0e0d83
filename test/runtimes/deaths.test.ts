/**
 * Runs of which their processes die.
 *
 * @module-tag long
 */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { MAX_DEATHS } from '../../src/stores/deaths.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { LONG } from '../tags.ts'
import { startNode } from './harness.ts'

it('are given up after a few deaths, and the next process lives on', {
  ...LONG,
  timeout: 120_000,
}, async () => {
  const folder = await newFolder()
  onTestFinished(folder.remove)
  const DATABASE = join(folder.path, 'runs.db')
  const headers = { 'content-type': 'application/json', prefer: 'respond-async', 'idempotency-key': 'one' }
  const body = JSON.stringify({ input: 'x' })
  const env = { DATABASE, EPOCH: `${Date.now()}` }
  let deaths = 0
  for (let isOver = false; !isOver; ) {
    // It may die before it says that it listens.
    const runtime = await startNode('test/runtimes/entries/runs-dying.ts', { env }).catch(() => undefined)
    if (runtime !== undefined) onTestFinished(() => runtime.stop())
    // The same key finds the same run, whoever has died meanwhile.
    const ask = () => fetch(`${runtime?.url}/api/workflows/dies/run`, { method: 'POST', headers, body })
    isOver = await eventually(async () => {
      const record = await ask().then(
        answer => answer.json(),
        () => undefined,
      )
      if (record !== undefined) expect(record.status).toBe('failed')
      if (record !== undefined)
        expect(record).toMatchObject({ error: { code: 'interrupted' }, resumable: true })
      return record !== undefined
    })
    if (!isOver) deaths++
  }
  expect(deaths).toBe(MAX_DEATHS)
})
