import { useState } from 'preact/hooks'
import { Notice } from './parts/notice.tsx'
import { ASKS, HAS_LOGIN, loadConfig, logIn } from './service.ts'

/** The login by a provider, and a form for the credentials of the service. */
export function Login({ isRefused, isOptional }: { isRefused?: boolean; isOptional?: boolean }) {
  const [isBusy, setBusy] = useState(false)
  const [isUnsent, setUnsent] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const given: Record<string, string> = {}
    for (const [index, { header, prefix }] of ASKS.entries()) {
      const value = (form.elements.namedItem(`credential-${index}`) as HTMLInputElement).value.trim()
      if (value !== '') given[header] = prefix + value
    }
    const isSent = canBeSent(given)
    setUnsent(!isSent)
    if (!isSent) return
    setBusy(true)
    await logIn(given, (form.elements.namedItem('keep') as HTMLInputElement).checked)
    setBusy(false)
  }
  return (
    <main class="login">
      <h1>Log in</h1>
      {HAS_LOGIN && (
        <>
          {location.search === '?login=failed' && (
            <Notice kind="error">The provider did not let you in.</Notice>
          )}
          <a class="button" href="console/login">
            Log in with your identity provider
          </a>
          <p class="soft">Or give a token:</p>
        </>
      )}
      {isUnsent && (
        <Notice kind="error">A header cannot hold this: it has characters that are not in Latin-1.</Notice>
      )}
      {isRefused && !isUnsent && <Notice kind="error">The service did not accept this.</Notice>}
      <form onSubmit={submit}>
        {ASKS.map(({ label, header }, index) => (
          <label key={header}>
            {label}
            <input
              type="password"
              name={`credential-${index}`}
              autocomplete="off"
              required={ASKS.length === 1}
            />
          </label>
        ))}
        <label class="check">
          <input type="checkbox" name="keep" /> Keep it for this tab
        </label>
        <p class="actions">
          <button type="submit" class="main" disabled={isBusy}>
            Log in
          </button>
          {isOptional && (
            <button type="button" onClick={() => void loadConfig()}>
              Cancel
            </button>
          )}
        </p>
      </form>
    </main>
  )
}

/** Whether a request can have these headers. */
function canBeSent(headers: Readonly<Record<string, string>>): boolean {
  try {
    return Boolean(new Headers({ ...headers }))
  } catch {
    return false
  }
}
