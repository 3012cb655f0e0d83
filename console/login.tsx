import { Field, Form, Misfilled } from './parts/form.tsx'
import { Notice } from './parts/notice.tsx'
import { textIn } from './parts/typed.ts'
import { ASKS, HAS_LOGIN, loadConfig, logIn } from './service.ts'

const REFUSED = 'The service did not accept this. Check it, and enter it again.'
const UNSENT =
  'This has characters that no request can carry. Check that you copied the token, and nothing else.'

/** The login by a provider, and a form for the credentials of the service. */
export function Login({ isRefused, isOptional }: { isRefused?: boolean; isOptional?: boolean }) {
  const send = async (fields: FormData) => {
    const given = ASKS.map(({ header, prefix }, index) => {
      const value = textIn(fields, nameOf(index))
      if (!canBeSent(header, value)) throw new Misfilled([{ path: nameOf(index), message: UNSENT }])
      return [header, prefix + value, value !== ''] as const
    })
    const filled = given.filter(([, , isFilled]) => isFilled).map(([header, value]) => [header, value])
    await logIn(Object.fromEntries(filled), fields.has('keep'))
  }
  return (
    <main class="login">
      <h1>Log in</h1>
      {HAS_LOGIN && (
        <>
          {location.search === '?login=failed' && (
            <Notice kind="error">
              The identity provider did not let you in. Try again, or ask whoever runs this service.
            </Notice>
          )}
          <a class="button" href="console/login">
            Log in with your identity provider
          </a>
          <p class="soft">Or enter a token:</p>
        </>
      )}
      <Form
        kind="form"
        submit="Log in"
        given={isRefused ? { [nameOf(0)]: REFUSED } : {}}
        work={send}
        more={
          isOptional && (
            <button type="button" onClick={() => void loadConfig()}>
              Cancel
            </button>
          )
        }
      >
        {ASKS.map(({ label, header }, index) => (
          <Field key={header} name={nameOf(index)} label={label}>
            <input type="password" autocomplete="off" required={ASKS.length === 1} />
          </Field>
        ))}
        <Field name="keep" label="Stay logged in until this tab is closed">
          <input type="checkbox" />
        </Field>
      </Form>
    </main>
  )
}

function nameOf(index: number): string {
  return `credential-${index}`
}

/** Whether a request can have this header. */
function canBeSent(header: string, value: string): boolean {
  try {
    return Boolean(new Headers({ [header]: value }))
  } catch {
    return false
  }
}
