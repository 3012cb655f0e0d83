import { approvalsContract } from '../contracts/approvals.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('approvals'), approvalsContract)
