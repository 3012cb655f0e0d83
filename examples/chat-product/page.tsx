import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'
import { Button } from './message.tsx'
import { type List, sessions, type Turns, turnsOf } from './service.ts'

function Page() {
  const [list, setList] = useState<List>([])
  const [open, setOpen] = useState<{ id: string; turns: Turns; opened: number }>()
  const load = async () => setList((await sessions.list()).sessions)
  const show = async (id: string) => {
    location.hash = id
    setOpen({ id, turns: await turnsOf(id), opened: Date.now() })
  }
  const change = async (id: string) => {
    await load()
    const turns = await turnsOf(id)
    setOpen(before => before && { ...before, turns })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page opens
  useEffect(() => {
    load().catch(() => location.assign('/login'))
    void show(location.hash.slice(1) || crypto.randomUUID())
  }, [])
  return (
    <>
      <Button onClick={() => show(crypto.randomUUID())}>New</Button>
      {list.map(({ id, title }) => (
        <Button key={id} onClick={() => show(id)}>
          {title}
        </Button>
      ))}
      {open && (
        <Chat key={open.opened} {...open} onChange={() => change(open.id)} onShow={() => show(open.id)} />
      )}
    </>
  )
}

createRoot(document.body).render(<Page />)
