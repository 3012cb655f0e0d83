import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { loadCatalog, type Target } from '../catalog.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/form.tsx'
import { Failure } from '../parts/notice.tsx'
import { client, config } from '../service.ts'
import { visible } from '../text.ts'

/** Since when a target is paused, and why. Nothing if it is not. */
export function Paused({ target: { paused } }: { target: Target }) {
  if (!paused) return null
  return (
    <p class="s wait">
      <i class="i wait" />
      <span>
        Paused <Ago at={paused.at} />
        {paused.reason && `: ${visible(paused.reason)}`}
      </span>
    </p>
  )
}

/** What one can do with a target: the links inside, and to pause and resume it where the user may. */
export function Pausing({ target, children }: { target: Target; children: ComponentChildren }) {
  const acting = useActing()
  const pausing = useRef<HTMLDialogElement>(null)
  const mayPause = config.value.plugins.includes('pausing') && config.value.rights.includes('pause')
  return (
    <>
      <p class="actions">
        {children}
        {mayPause &&
          (target.paused ? (
            <Action acting={acting} work={() => client.resume(target).then(() => loadCatalog())}>
              Resume
            </Action>
          ) : (
            <button type="button" onClick={() => pausing.current?.showModal()}>
              Pause…
            </button>
          ))}
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
      {mayPause && (
        <Dialog
          dialog={pausing}
          title={`Pause ${visible(target.name)}?`}
          submit="Pause"
          work={async form => {
            await client.pause(target, String(form.get('reason')).trim() || undefined)
            await loadCatalog()
          }}
        >
          <p>New runs are refused until you resume it. Runs that have begun go on.</p>
          <Field name="reason" label="Reason" hint="Callers read it">
            <input maxLength={500} />
          </Field>
        </Dialog>
      )}
    </>
  )
}
