/**
 * The contracts of all that is kept, in PostgreSQL.
 *
 * @module-tag long
 */
import { afterAll, beforeAll } from 'vitest'
import { a2aStateContract } from '../contracts/a2a.ts'
import { adminStateContract } from '../contracts/admin.ts'
import { approvalsContract } from '../contracts/approvals.ts'
import { budgetsContract } from '../contracts/budgets.ts'
import { filesStateContract } from '../contracts/files.ts'
import { gatewayStateContract } from '../contracts/gateway.ts'
import { guardsContract } from '../contracts/guards.ts'
import { keysContract } from '../contracts/keys.ts'
import { countingCases } from '../contracts/metrics/counting.ts'
import { pausingContract } from '../contracts/pausing.ts'
import { queueContract } from '../contracts/queue.ts'
import { runsContract } from '../contracts/runs.ts'
import { schedulesContract } from '../contracts/schedules.ts'
import { served } from '../contracts/served.ts'
import { sessionsContract } from '../contracts/sessions.ts'
import { webhooksContract } from '../contracts/webhooks.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { inPostgres } from './deployments.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe } = needing('postgresql')

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.stop())

const deploy = (name: string) => inPostgres(name, () => server)

describe('Node, in PostgreSQL', ELSEWHERE, () => {
  describe('stored runs', () => runsContract(deploy('runs')))
  describe('A2A', () => a2aStateContract(deploy('a2a')))
  describe('the event socket', () => gatewayStateContract(deploy('gateway')))
  describe('sessions', () => sessionsContract(deploy('sessions')))
  describe('approvals', () => approvalsContract(deploy('approvals')))
  describe('the queue', () => queueContract(deploy('queue')))
  // PostgreSQL compresses what it stores, so that its files say nothing of what is in them.
  describe('guards', () =>
    guardsContract(async settings => ({ ...(await deploy('guards')(settings)), folder: undefined })))
  describe('budgets', () => budgetsContract(deploy('budgets')))
  describe('pauses', () => pausingContract(deploy('pausing')))
  describe('webhooks', () => webhooksContract(deploy('webhooks')))
  describe('schedules', () => schedulesContract(deploy('schedules')))
  describe('files', () => filesStateContract(deploy('files')))
  describe('keys', () => keysContract(deploy('keys')))
  describe('admin', () => adminStateContract(() => deploy('admin')('')))
  describe('metrics', () =>
    countingCases(
      served(() => deploy('metrics')('')),
      400,
    ))
})
