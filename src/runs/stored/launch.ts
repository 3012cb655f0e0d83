/**
 * Starts a stored run in this process: the run, its journal, and the writing of its log.
 *
 * @module
 */

import { hasKeys } from '../../agents/redacted.ts'
import type { Transaction } from '../../stores/store.ts'
import { notStored } from '../failures.ts'
import { type Run, startRun } from '../run.ts'
import type { StartRequest } from './host.ts'
import { createJournal } from './journal.ts'
import { LiveRun, type LiveRunOptions } from './live-run.ts'
import { isRunOf } from './record.ts'
import type { CutRun } from './takeover.ts'

/** What a run needs to start here. */
export interface LaunchOptions
  extends Pick<
    LiveRunOptions,
    'store' | 'settings' | 'keepMs' | 'instance' | 'keepsJournal' | 'leave' | 'own'
  > {
  readonly id: string
  /** Whether its request is stored, so that another worker may take it over. */
  readonly isJournalled: boolean
  /** Its earlier work and output, if its process died before. */
  readonly cut?: CutRun | undefined
  /** Called before it is left to another worker: this one takes no more. */
  readonly retire: () => void
}

/** Starts a run that is written as this worker's. */
export function launchRun(
  request: Omit<StartRequest, 'key'>,
  { id, isJournalled, cut, retire, ...live }: LaunchOptions,
): { readonly run: Run; readonly live: LiveRun } {
  const { target, input, owner, isBackground, secrets = [], continues, transport, client } = request
  const { store, settings, instance, leave, own } = live
  const options = { ...request.options, runId: id }
  const log = own?.log ?? id
  const journal = isJournalled
    ? createJournal({
        ...{ id, options, entries: cut?.entries ?? 0, thing: log },
        isOurs: own?.isOurs ?? ((tx: Transaction) => isRunOf(tx, id, instance) && !tx.isSealed(id)),
        async keep(write, mayWait) {
          // The servable may be called, and write to its journal, before there is a live run.
          await undefined
          await running.keep(write, mayWait)
          return running.leaveBetween()
        },
        flush: () => void Promise.resolve().then(() => running.flush()),
      })
    : undefined
  const run = startRun(target, input, options, settings, {
    // Of what is a part of something else, neither the input's files nor the calls of models are kept here.
    ...(own === undefined && { isStored: true, keepsCalls: settings.keepModelCalls }),
    transport,
    secrets: () => secrets,
    ...(continues && { continues }),
    cut,
    ...(journal && { journal }),
  })
  if (isJournalled) {
    run.onRetire = async () => {
      // The next worker needs the work that is done.
      await running.keep(() => true).catch(() => {})
      retire()
      return store.write(leave)
    }
  }
  const running = new LiveRun(run, {
    ...live,
    ...{ owner, journal, before: cut, isBackground, client },
    model: target.servable.model,
    // On a store of one's own nobody would take it up. Nobody else has its client's key.
    leavesWhenAway: isJournalled && store.isShared && !hasKeys(options),
    onStuck: thrown => settings.onFailure?.(notStored(id, target, { options, secrets, thrown })),
  })
  return { run, live: running }
}
