import { agUiContract } from '../contracts/ag-ui.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('ag-ui'), agUiContract)
