import { useRef, useState } from 'preact/hooks'
import type { RunInput, RunRecord } from '../../src/client/index.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Misfilled } from '../parts/form.tsx'
import { textIn } from '../parts/typed.ts'
import { goTo, route } from '../route.ts'
import { client, providerKeys } from '../service.ts'

/** Runs an input again after it was changed, and shows both runs side by side. */
export function Changed({ record: { id, sessionId = '' }, input }: { record: RunRecord; input: RunInput }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isShown, show] = useState(false)
  const open = () => {
    show(true)
    dialog.current?.showModal()
  }
  const isText = typeof input === 'string'
  const before = isText ? input : JSON.stringify(input, undefined, 2)
  const start = async (form: FormData) => {
    const [text, session] = [String(form.get('input')), textIn(form, 'sessionId')]
    const changes = {
      ...(text !== before && { input: isText ? text : partsIn(text) }),
      ...(session !== sessionId && { sessionId: session || null }),
    }
    const next = await client.runs.retry(id, { keys: providerKeys.value, ...changes })
    goTo('runs', [next.id], { ...Object.fromEntries(route.value.query), view: 'compare' })
  }
  return (
    <>
      <button type="button" onClick={open}>
        Edit and run again…
      </button>
      <Dialog dialog={dialog} title="Edit and run again" submit="Run" work={start}>
        {isShown && (
          <>
            <Field name="input" label={isText ? 'Input' : 'Input: its parts as JSON'}>
              <textarea rows={8} required dir="auto">
                {before}
              </textarea>
            </Field>
            <Field name="sessionId" label="Session">
              <input maxLength={500} defaultValue={sessionId} placeholder="None" />
            </Field>
          </>
        )}
      </Dialog>
    </>
  )
}

function partsIn(text: string): RunInput {
  try {
    return JSON.parse(text)
  } catch {
    const message = 'This is not JSON. Look for a missing quote, comma or bracket.'
    throw new Misfilled([{ path: 'input', message }])
  }
}
