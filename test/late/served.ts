import type { LocalState } from '../../src/core/local-state.ts'
import type { Handler, HandlerOptions } from '../../src/index.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { servedHere } from '../contracts/served-here.ts'
import { lateState } from '../contracts/store/late.ts'

/** A service of the contracts, made from the name of its settings. */
type HandlerOn = (state: LocalState, settings: string, more: HandlerOptions) => Handler

/** Serves it in this process, over a store that answers late. */
export function late(handlerOn: HandlerOn): (settings: string) => Promise<Deployment> {
  return settings => servedHere(more => handlerOn(lateState(), settings, more))
}
