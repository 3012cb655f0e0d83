/** What holds of budgets on every store and runtime. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { countingCases, crowdCases, severalCases, windowCases } from './budgets/counting.ts'
import { refusingCases } from './budgets/refusing.ts'
import { served } from './served.ts'

export function budgetsContract(deploy: Deploy): void {
  describe('budgets', () => {
    const server = served(() => deploy('usual'))
    refusingCases(server)
    countingCases(server)
  })
  describe('with a short window', () => windowCases(served(() => deploy('brief'))))
  describe('of all', () => crowdCases(served(() => deploy('many'))))
  describe('of several kinds', () => severalCases(served(() => deploy('several'))))
}
