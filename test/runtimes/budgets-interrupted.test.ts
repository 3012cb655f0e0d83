/**
 * Budgets whose process dies while runs are at work.
 *
 * @module-tag long
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { budgetsOf, run, type Server, spent } from '../contracts/budgets/client.ts'
import { accept, as, own } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { ELSEWHERE } from '../tags.ts'
import { storesOf } from './deployments.ts'
import type { Runtime } from './harness.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servable-budgets-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const serverOf =
  (runtime: Runtime): Server =>
  () => ({ ...runtime, folder })

describe.each(Object.entries(storesOf('budgets')))('%s', ELSEWHERE, (_, start) => {
  it('counts each run once where the process is killed among them, and what dead ones held', async () => {
    const first = await start(folder, 'many')
    const before = serverOf(first)
    for (let time = 0; time < 5; time++) expect((await run(before, own('owner'), 1)).status).toBe(200)
    await spent(before, 'anyone', 5)
    // Two that have used a cent and hold two and a half, and one that has used three and holds four and a half.
    for (const input of ['1 hang', '1 hang', '3 hang'])
      await accept(before, 'agents/calls', { input }, as(own('owner')))
    await eventually(async () =>
      expect(await budgetsOf(before, 'anyone')).toMatchObject([{ spentUsd: 0.05, heldUsd: 0.095 }]),
    )
    await first.kill()
    const second = await start(folder, 'many')
    onTestFinished(() => second.stop())
    const after = serverOf(second)
    expect(await budgetsOf(after, 'anyone')).toMatchObject([{ spentUsd: 0.05, heldUsd: 0.095 }])
    const answers = await Promise.all(Array.from({ length: 50 }, () => run(after, own('owner'), 1)))
    expect(answers.filter(({ status }) => status === 200).length).toBe(35)
    await eventually(async () =>
      expect(await budgetsOf(after, 'anyone')).toMatchObject([
        { spentUsd: 0.4, heldUsd: 0.095, remainingUsd: 0.005 },
      ]),
    )
  })
})
