/** What holds of the queue on every store and runtime. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { taskCases } from './queue/tasks.ts'
import { waitingCases } from './queue/waiting.ts'
import { served } from './served.ts'

export function queueContract(deploy: Deploy): void {
  describe('the queue', () => {
    const server = served(() => deploy('usual'))
    waitingCases(server)
    describe('A2A tasks', () => taskCases(server))
  })
}
