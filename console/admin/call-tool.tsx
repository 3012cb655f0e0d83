import { useState } from 'preact/hooks'
import type { ToolCallResult } from '../../src/features/admin/tool-call.ts'
import type { ToolSummary } from '../../src/http/tool-catalog.ts'
import { useActing } from '../parts/action.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure } from '../parts/notice.tsx'
import { SchemaForm } from '../requests/schema-form.tsx'
import { duration, visible } from '../text.ts'
import { askAdmin } from './ask.ts'

/** Calls a tool without an agent. Only for administrators. */
export function CallTool({ tool: { name, parameters } }: { tool: ToolSummary }) {
  const { isBusy, error, act } = useActing()
  const [outcome, setOutcome] = useState<ToolCallResult>()
  const call = async (args: unknown) => {
    setOutcome(undefined)
    setOutcome(
      await askAdmin<ToolCallResult>(`/tools/${encodeURIComponent(name)}/call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ args }),
      }),
    )
  }
  return (
    <details>
      <summary>Try it</summary>
      <SchemaForm
        id={`call-${name}`}
        schema={parameters ?? {}}
        title="Arguments"
        action={`Call ${visible(name)}`}
        isBusy={isBusy}
        take={args => void act(() => call(args))}
      />
      {error !== undefined && <Failure error={error} />}
      {outcome && (
        <section aria-label={`Result of ${name}`}>
          <p role="status">It took {duration(outcome.durationMs)}.</p>
          <JsonView value={outcome.result} label={`result of ${name}`} />
        </section>
      )}
    </details>
  )
}
