import { useEffect, useRef } from 'preact/hooks'
import { announcement, useInboxes, waitingCount } from './approvals/live.ts'
import { Login } from './login.tsx'
import { Notice } from './parts/notice.tsx'
import { linkTo, route } from './route.ts'
import { SCREENS } from './screens.ts'
import { config, isLoggedIn, loadConfig, logOut, standing, TITLE } from './service.ts'

/** The whole page. */
export function App() {
  const now = standing.value
  if (now.is === 'loading') return <main aria-busy="true" />
  if (now.is === 'asking') return <Login {...now} />
  if (now.is === 'failed') return <Failed why={now.why} />
  return <Console />
}

function Failed({ why }: { why: string }) {
  return (
    <main class="login">
      <h1>The console cannot be shown</h1>
      <Notice kind="error">{why}</Notice>
      <button type="button" onClick={() => void loadConfig()}>
        Try again
      </button>
    </main>
  )
}

function Console() {
  const id = route.value.screen || SCREENS[0]?.id || ''
  const screen = SCREENS.find(each => each.id === id)
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const waiting = waitingCount.value
  useInboxes()
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${screen?.title ?? 'Not found'} – ${TITLE}`
  }, [id, waiting])
  useEffect(() => {
    if (!isFirst.current) main.current?.querySelector('h1')?.focus()
    isFirst.current = false
  }, [id])
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.querySelector('h1')?.focus()}>
        Skip to the content
      </button>
      <Head screen={id} />
      {config.value.isLocal && (
        <aside class="local">Local development: everyone on this machine is an administrator</aside>
      )}
      <p class="unseen" role="status">
        {announcement.value}
      </p>
      <main id="main" ref={main} class={`screen ${id}`}>
        {screen ? <screen.view /> : <h1 tabIndex={-1}>There is no such screen</h1>}
      </main>
    </>
  )
}

function Head({ screen }: { screen: string }) {
  const { identity } = config.value
  return (
    <header class="head">
      <span class="brand">{TITLE}</span>
      <nav aria-label="Screens">
        <ul>
          {SCREENS.map(({ id, title, Badge }) => (
            <li key={id}>
              <a href={linkTo(id)} aria-current={id === screen ? 'page' : undefined}>
                {title}
                {Badge && <Badge />}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <span class="who">{[identity?.id ?? 'anonymous', ...(identity?.roles ?? [])].join(', ')}</span>
      {isLoggedIn.value ? (
        <button type="button" class="quiet" onClick={logOut}>
          Log out
        </button>
      ) : (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            standing.value = { is: 'asking', isOptional: true }
          }}
        >
          Log in
        </button>
      )}
    </header>
  )
}
