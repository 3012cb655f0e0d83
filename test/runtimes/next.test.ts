import { afterAll, beforeAll, describe } from 'vitest'
import { a2aContract } from '../contracts/a2a.ts'
import { adminContract } from '../contracts/admin.ts'
import { clientOf, connected, stock } from '../contracts/gateway/client.ts'
import { recoveryCases } from '../contracts/gateway/recovery.ts'
import { runCases } from '../contracts/gateway/runs.ts'
import { countingCases } from '../contracts/metrics/counting.ts'
import { runsContract } from '../contracts/runs.ts'
import { served } from '../contracts/served.ts'
import { buildNextApps, type NextApps } from './next-apps.ts'

let apps: NextApps
beforeAll(async () => {
  apps = await buildNextApps()
}, 180_000)
afterAll(() => apps?.remove())

const deploy = (ENTRY: string) => (SETTINGS: string) => apps.start('node', { ENTRY, SETTINGS })
describe('runs', () => runsContract(deploy('runs')))
describe('a2a', () => a2aContract(deploy('a2a')))
adminContract('Next', () => deploy('admin')(''))
describe('metrics', () =>
  countingCases(
    served(() => deploy('metrics')('')),
    200,
  ))
describe('gateway', () => {
  const server = served(() => deploy('gateway')('usual'))
  runCases(server, async auth => {
    const socket = stock(server, auth && { auth })
    await connected(socket)
    return clientOf(socket)
  })
})
describe('gateway rec', () => recoveryCases(served(() => deploy('gateway')('recovering'))))
