import { Notice } from '../parts/notice.tsx'
import { ofAdmin, ofMetrics, type PartToken } from './token.ts'

/** A form for the token of an administrator. `what` names the data that it unlocks. */
export function TokenForm({ what, label }: { what: string; label: string }) {
  return (
    <Form token={ofAdmin} label={label} field="Admin token">
      {what} need the token of an administrator. The page forgets it after 15 minutes. Leave it empty if the
      service asks administrators for none.
    </Form>
  )
}

/** A form for the token of the metrics. */
export function MetricsTokenForm() {
  return (
    <Form token={ofMetrics} label="Metrics of their own token" field="Metrics token">
      The metrics need a token of their own: the one that `authenticate` of the `MetricsExporter` accepts. The
      page forgets it after 15 minutes.
    </Form>
  )
}

function Form({
  token,
  label,
  field,
  children,
}: {
  token: PartToken
  label: string
  field: string
  children: (string | string[])[] | string
}) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    token.keep(String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim())
  }
  return (
    <form class="card form" aria-label={label} onSubmit={submit}>
      <h2>{label}</h2>
      <p class="soft">{children}</p>
      {token.isRefused.value && <Notice kind="error">The service did not accept the token.</Notice>}
      <label>
        {field}
        <input type="password" name="token" autocomplete="off" />
      </label>
      <p class="actions">
        <button type="submit">Open</button>
      </p>
    </form>
  )
}

export function ForgetToken() {
  if (ofAdmin.value.value === undefined) return null
  return (
    <p class="actions">
      <button type="button" onClick={() => ofAdmin.keep(undefined)}>
        Forget the admin token
      </button>
    </p>
  )
}
