import { approvalsContract } from '../contracts/approvals.ts'
import { CONNECTIONS } from '../contracts/connections.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('approvals'), approvalsContract, deploy => CONNECTIONS.approvals(deploy))
