import { Notice } from '../parts/notice.tsx'
import { isRefused, keepToken } from './admin.ts'

/** Asks for the token of an administrator. `what` is what it opens. */
export function TokenForm({ what, label }: { what: string; label: string }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    keepToken(String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim())
  }
  return (
    <form class="card form" aria-label={label} onSubmit={submit}>
      <h2>{label}</h2>
      <p class="soft">
        {what} need the token of an administrator. The page forgets it after 15 minutes. Leave it empty if the
        service asks administrators for none.
      </p>
      {isRefused.value && <Notice kind="error">The service did not accept the token.</Notice>}
      <label>
        Admin token
        <input type="password" name="token" autocomplete="off" />
      </label>
      <p class="actions">
        <button type="submit">Open</button>
      </p>
    </form>
  )
}

export function ForgetToken() {
  return (
    <p class="actions">
      <button type="button" onClick={() => keepToken(undefined)}>
        Forget the admin token
      </button>
    </p>
  )
}
