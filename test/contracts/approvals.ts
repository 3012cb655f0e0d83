/** What holds of approvals on every store and runtime. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { decidingCases, keyCases } from './approvals/deciding.ts'
import { boundCases, continuingCases, refusingCases } from './approvals/expiring.ts'
import { listingCases } from './approvals/listing.ts'
import { taskCases, taskExpiryCases } from './approvals/tasks.ts'
import { served } from './served.ts'

export function approvalsContract(deploy: Deploy): void {
  describe('approvals', () => {
    const server = served(() => deploy('usual'))
    decidingCases(server)
    describe('and keys', () => keyCases(server))
    describe('of tasks', () => taskCases(server))
    describe('in the inbox', () => listingCases(server))
  })
  describe('an approval that expires', () => {
    const server = served(() => deploy('refuse-brief'))
    refusingCases(server)
    taskExpiryCases(server, 'TASK_STATE_FAILED', 'The approval has expired')
    boundCases(server)
  })
  describe('an approval that expires, where runs go on', () => {
    const server = served(() => deploy('continue-brief'))
    continuingCases(server)
    taskExpiryCases(server, 'TASK_STATE_COMPLETED', 'not paid')
  })
}
