import type { SessionKey } from '../../agents/memory.ts'
import type { Kind } from '../../agents/run-types.ts'
import type { RetentionOf } from '../stored/retention-of.ts'
import type { SessionSettings } from './session-record.ts'

/** Returns the settings of a session. */
export type SettingsFor = (key: SessionKey) => SessionSettings

/** The settings, with the deployment's retention of the session. */
export function settingsBy(settings: SessionSettings, retentionOf: RetentionOf | undefined): SettingsFor {
  if (retentionOf === undefined) return () => settings
  return ({ owner, place }) => {
    const [kind = '', ...name] = place.at(-1)?.split(':') ?? []
    // A claimed user is not an identity.
    const identity = owner === null || owner.startsWith('/') ? null : decodeURIComponent(owner)
    const what = { kind: kind as Kind, name: name.join(':'), owner: identity }
    return { ...settings, sessionRetentionMs: retentionOf(what) }
  }
}
