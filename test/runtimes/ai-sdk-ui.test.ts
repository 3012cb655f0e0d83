import { aiSdkUiContract } from '../contracts/ai-sdk-ui.ts'
import { CONNECTIONS } from '../contracts/connections.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('ai-sdk-ui'), aiSdkUiContract, deploy => CONNECTIONS['ai-sdk-ui'](deploy))
