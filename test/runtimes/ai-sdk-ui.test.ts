import { aiSdkUiContract } from '../contracts/ai-sdk-ui.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('ai-sdk-ui'), aiSdkUiContract)
