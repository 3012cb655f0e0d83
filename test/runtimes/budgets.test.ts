import { budgetsContract } from '../contracts/budgets.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('budgets'), budgetsContract)
