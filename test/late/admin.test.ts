/** What the contract of the admin routes says of the store. */
import { describe } from 'vitest'
import { stdio } from '../../src/runtimes/stdio.ts'
import { managingCases } from '../contracts/admin/managing.ts'
import { handlerOn } from '../contracts/admin/service.ts'
import { served } from '../contracts/served.ts'
import { late } from './served.ts'

const deploy = late((state, settings, more) => handlerOn(state, settings, more, stdio))

describe('tool servers over a store that answers late', () => managingCases(served(() => deploy(''))))
