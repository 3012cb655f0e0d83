import { useRef, useState } from 'preact/hooks'
import type { RunRecord } from '../../src/client/index.ts'
import type { StoredFeedback } from '../../src/runs/feedback.ts'
import { catalog } from '../catalog.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Misfilled } from '../parts/form.tsx'
import { textIn } from '../parts/typed.ts'
import { linkTo } from '../route.ts'
import { client } from '../service.ts'
import type { RunLog } from './log.ts'

/** Saves a run as a case for tests: what was asked and answered, and what should have been answered. */
export function SaveAsCase({
  record: { id, kind, name, sessionId, result, status },
  log,
  said,
}: {
  record: RunRecord
  log: RunLog
  /** What was said of the run, if anything. */
  said?: StoredFeedback | undefined
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  // A form begins anew each time it is opened.
  const [opened, setOpened] = useState(0)
  const [isSaved, setSaved] = useState(false)
  const { targets, error } = catalog.value
  const target = targets.find(each => each.kind === kind && each.name === name)
  // A service that does not list its agents says so when a case is saved.
  const isTaken = kind === 'agent' && (target?.corrections ?? error !== undefined)
  if (!isTaken || status === 'queued' || status === 'running') return null
  const { input = '' } = log
  const output = result?.structured ?? (result?.text || log.text)
  const should = typeof output === 'string' ? said?.correction : undefined
  const open = () => {
    setOpened(opened + 1)
    setSaved(false)
    dialog.current?.showModal()
  }
  const save = async (form: FormData) => {
    const value = (field: string, like: unknown) => typedAs(field, String(form.get(field)), like)
    const note = textIn(form, 'reason')
    await client.agent(name).corrections.add({
      input: value('input', input),
      originalValue: value('originalValue', output),
      correctedValue: value('correctedValue', output),
      runId: id,
      ...(note !== '' && { reason: note }),
      ...(sessionId !== undefined && { sessionId }),
    })
    setSaved(true)
  }
  return (
    <>
      <button type="button" class="save-case" onClick={open}>
        Save as case
      </button>
      <span role="status">
        {isSaved && (
          <>
            The case is saved.{' '}
            <a class="inline" href={linkTo('corrections', [name])}>
              See all
            </a>
          </>
        )}
      </span>
      <Dialog dialog={dialog} title="Save as case" submit="Save" work={save}>
        <div class="case" key={opened}>
          <Value name="input" title="Input" value={input} />
          <Value name="originalValue" title="Output" value={output} />
          <Value name="correctedValue" title="Expected" value={should ?? output} />
          <Field name="reason" label="Note">
            <input maxLength={10_000} defaultValue={said?.text ?? ''} />
          </Field>
        </div>
      </Dialog>
    </>
  )
}

/** A value to edit: a text as it is, and everything else as JSON. */
function Value({ name, title, value }: { name: string; title: string; value: unknown }) {
  return (
    <Field name={name} label={typeof value === 'string' ? title : `${title}, as JSON`}>
      <textarea
        rows={3}
        required={name !== 'originalValue'}
        defaultValue={typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
      />
    </Field>
  )
}

/** What was typed: a text where the value was a text, and else JSON. */
function typedAs(path: string, text: string, like: unknown): unknown {
  if (typeof like === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    throw new Misfilled([{ path, message: 'This is not JSON. Look for a missing quote, comma or bracket.' }])
  }
}
