import { stdio } from '../../src/runtimes/stdio.ts'
import { adminHandler, adminOptions } from '../contracts/admin/service.ts'
import { adminContract } from '../contracts/admin.ts'
import { late } from './served.ts'

const deploy = late({ options: state => adminOptions(state, stdio), handler: adminHandler })

adminContract('over a store that answers late', () => deploy(''))
