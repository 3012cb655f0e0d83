import { sessionsContract } from '../contracts/sessions.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('sessions'), (deploy, name) =>
  sessionsContract(deploy, { counts: !name.startsWith('workerd') }),
)
