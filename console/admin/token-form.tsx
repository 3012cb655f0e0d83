import { Field, Form } from '../parts/form.tsx'
import { textIn } from '../parts/typed.ts'
import { ofAdmin, ofMetrics, type PartToken } from './token.ts'

/** A form for the token of an administrator. */
export function TokenForm() {
  return (
    <Asked
      token={ofAdmin}
      label="For administrators"
      field="Admin token"
      hint="Leave it empty if administrators of this service need no token. The page forgets it after 15 minutes."
    />
  )
}

/** A form for the token of the metrics. */
export function MetricsTokenForm() {
  return (
    <Asked
      token={ofMetrics}
      label="The metrics have a token of their own"
      field="Metrics token"
      hint="It is the one that `authenticate` of the `MetricsExporter` accepts. The page forgets it after 15 minutes."
    />
  )
}

function Asked({
  token,
  label,
  field,
  hint,
}: {
  token: PartToken
  label: string
  field: string
  hint: string
}) {
  return (
    <Form
      label={label}
      submit="Open"
      given={token.isRefused.value ? { token: REFUSED } : {}}
      work={async fields => token.keep(textIn(fields, 'token'))}
    >
      <h2>{label}</h2>
      <Field name="token" label={field} hint={hint}>
        <input type="password" autocomplete="off" />
      </Field>
    </Form>
  )
}

const REFUSED = 'The service did not accept this token. Check it, and enter it again.'

/** A button that forgets the token of the administrator, if there is one. */
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
