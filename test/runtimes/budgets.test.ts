import { budgetsContract } from '../contracts/budgets.ts'
import { CONNECTIONS } from '../contracts/connections.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('budgets'), budgetsContract, deploy => CONNECTIONS.budgets(deploy))
