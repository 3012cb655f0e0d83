import { CONNECTIONS } from '../contracts/connections.ts'
import { sessionsContract } from '../contracts/sessions.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(
  deploymentsOf('sessions'),
  (deploy, name) => sessionsContract(deploy, { counts: !name.startsWith('workerd') }),
  deploy => CONNECTIONS.sessions(deploy),
)
