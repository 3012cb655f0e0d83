/**
 * Starts of stored runs, and messages to the run at work of a session. A state brings them, so that a handler without one carries none of
 * it.
 *
 * @module
 */

import { sessionOf } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import type { RunNotices } from '../../runs/notices.ts'
import type { HostSettings } from '../../runs/stored/host.ts'
import { digestKey } from './idempotency.ts'
import { StartedRun, type StoredStarts, transportOf } from './start-run.ts'

/** Those of every state. */
export const STORED_STARTS: StoredStarts = {
  maySteer(
    { target, sessionId, concurrency, readsSteered, memory, history, clientTools, webhook, ...asked },
    options,
    { memory: kept },
  ) {
    const how = kept?.sessions?.steering
    const isAsked = concurrency === undefined ? readsSteered && how === 'always' : concurrency === 'steer'
    return (
      isAsked === true &&
      (how === 'always' || how === 'asked') &&
      target.servable.steering === true &&
      sessionId !== undefined &&
      [memory, history, clientTools?.[0], webhook, options.apiKeys].every(each => each === undefined) &&
      [asked.replaces, asked.branchFrom, asked.ifHead].every(each => each === undefined)
    )
  },

  async steer(asked, options, by) {
    const { runs, host } = by.parts
    const { target, input, messageId } = asked
    const sessions = runs.memory?.sessions
    const key = sessionOf(runs.memory, target, options)
    const before = key && (await sessions?.atWork(key, input))
    if (before === undefined || key === undefined || sessions === undefined) return undefined
    const own = { ...options, steers: true }
    const started = await STORED_STARTS.start({ ...asked, isBackground: true }, own, by)
    const { id, isNew, record } = started
    if (!isNew && record?.status !== 'running') return started
    const run = { id, input, options: own, cancel() {}, onWait() {} }
    const position = isNew ? await sessions.turnOf(key, target, run).join() : before.waiting
    // The other run has ended in the meantime.
    if (position === 0) return started
    const into = before.runId
    // A plain run has no record, and cannot be read from here.
    const other = await host.get(into, by.asker.owner).catch(() => undefined)
    return started.into(other, { into, next: id, messageId: messageId ?? id, position })
  },

  async start(
    { target, input, isBackground = false, keepsInput, key, webhook, retryOf, continues },
    options,
    { client, asker, parts },
  ) {
    const { owner } = asker
    const credentials = () => [...asker.credentials(), ...Object.entries(options.apiKeys ?? {}).flat()]
    const runId = crypto.randomUUID()
    if (webhook) await admitWebhook({ ...webhook, isBackground }, parts.runs)
    const record = await parts.host.start({
      target,
      input,
      options: { ...options, runId },
      owner,
      client,
      isBackground,
      keepsInput,
      webhook,
      ...{ retryOf, continues },
      transport: transportOf(asker, parts),
      key: key && (await digestKey(key.key, { owner, credentials: credentials(), target }, key.body)),
      secrets: asker.secrets(),
    })
    return new StartedRun(undefined, record, parts.host, owner, record.id === runId)
  },
}

/** Throws `unsupported_operation` without the plugin `webhooks`, and as `RunNotices.admit` does. */
async function admitWebhook(
  webhook: Parameters<RunNotices['admit']>[0],
  { notices }: HostSettings,
): Promise<void> {
  if (notices !== undefined) return notices.admit(webhook)
  throw new ServableError('unsupported_operation', '`webhook`: nobody is told of runs here')
}
