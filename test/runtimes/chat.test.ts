import { chatContract } from '../contracts/chat.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('chat'), chatContract)
