import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { announcement, waitingCount } from './approvals/live.ts'
import { loadCatalog } from './catalog.ts'
import { useConnection, useReconnected } from './connection.ts'
import { loadMore } from './lazy.tsx'
import { useLive } from './live.ts'
import { Login } from './login.tsx'
import { Notice } from './parts/notice.tsx'
import { route } from './route.ts'
import { SCREENS } from './screens.ts'
import { config, loadConfig, standing, TITLE } from './service.ts'
import { Finder } from './shell/finder.tsx'
import { Head } from './shell/head.tsx'
import { Help } from './shell/help.tsx'
import { Lost } from './shell/lost.tsx'
import { Side, Tabs } from './shell/side.tsx'

/** The whole page. */
export function App() {
  const now = standing.value
  if (now.is === 'loading') return <main aria-busy="true" />
  if (now.is === 'asking') return <Login {...now} />
  if (now.is === 'failed') return <Failed why={now.why} />
  return <Console />
}

/** A button that only the keyboard finds. It moves the focus past what comes before. */
function Skip({
  to,
  of,
  children,
}: {
  to: string
  of: RefObject<HTMLElement | null>
  children: ComponentChildren
}) {
  return (
    <button type="button" class="skip" onClick={() => of.current?.querySelector<HTMLElement>(to)?.focus()}>
      {children}
    </button>
  )
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
  const [isMenuOpen, openMenu] = useState(false)
  const waiting = waitingCount.value
  useConnection()
  useLive()
  useEffect(() => {
    void loadCatalog()
      .then(() => loadMore())
      .catch(() => {})
  }, [])
  useReconnected(() => void loadCatalog())
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${screen?.title ?? 'Not found'} – ${TITLE}`
  }, [id, waiting])
  useEffect(() => {
    openMenu(false)
    if (!isFirst.current) main.current?.querySelector('h1')?.focus()
    isFirst.current = false
  }, [id])
  const view = screen ? <screen.view /> : <h1 tabIndex={-1}>This screen does not exist</h1>
  return (
    <>
      <Skip to="h1" of={main}>
        Skip to the content
      </Skip>
      {screen?.isWhole && (
        <Skip to={'.list a[tabindex="0"], .list a, .composer textarea'} of={main}>
          Skip to the list
        </Skip>
      )}
      <Head screen={screen} />
      <Lost />
      <Side screen={id} isOpen={isMenuOpen} />
      <Tabs screen={id} isOpen={isMenuOpen} toggle={() => openMenu(!isMenuOpen)} />
      <p class="unseen" role="status">
        {announcement.value}
      </p>
      <main id="main" ref={main} class={`screen on-${id}`}>
        {screen?.isWhole ? view : <div class="page">{view}</div>}
      </main>
      <Finder key={config.value.identity?.id} />
      <Help />
    </>
  )
}
