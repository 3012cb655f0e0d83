/** What holds of files wherever they are stored. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { deletingCases, deletingOwnCases, deletingTurnCases } from './files/deleting.ts'
import { keepingCases } from './files/keeping.ts'
import { served } from './served.ts'

export function filesContract(deploy: Deploy): void {
  filesStateContract(deploy)
  describe.concurrent('in a store of one’s own', () => keepingCases(served(() => deploy('own'))))
  describe('with a short life, in a store of one’s own', () =>
    deletingOwnCases(served(() => deploy('own-brief'))))
}

/** What holds of files in the state. */
export function filesStateContract(deploy: Deploy): void {
  describe.concurrent('in the state', () => keepingCases(served(() => deploy('usual'))))
  describe('with a short life', () => {
    const server = served(() => deploy('brief'))
    deletingCases(server)
    deletingTurnCases(server)
  })
}
