/** What the contract of the admin routes says of the store. */
import { describe } from 'vitest'
import { stdio } from '../../src/runtimes/stdio.ts'
import { managingCases } from '../contracts/admin/managing.ts'
import { adminHandler, adminOptions } from '../contracts/admin/service.ts'
import { served } from '../contracts/served.ts'
import { late } from './served.ts'

const deploy = late({ options: state => adminOptions(state, stdio), handler: adminHandler })

describe('tool servers over a store that answers late', () => managingCases(served(() => deploy(''))))
