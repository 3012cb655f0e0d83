/** What holds of guards on every store and runtime. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { guardingCases } from './guards/guarding.ts'
import { keepingCases } from './guards/keeping.ts'
import { served } from './served.ts'

export function guardsContract(deploy: Deploy): void {
  describe('guards', () => {
    const server = served(() => deploy('usual'))
    guardingCases(server)
    keepingCases(server)
  })
}
